import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loopbackPlaces, type Validator, type ValidatorPlace } from '@hoodcloud/testkit/chains/cometbft-network';
import { type DemoChain, type DemoReleases, VALIDATORS } from '../chain/demo-chain.ts';
import type { DemoFolder } from '../stage/demo-state.ts';

const PROGRAM = fileURLToPath(new URL('stand-in-node.mjs', import.meta.url));

/** Four validators of the stand-in chain on the loopback address; their data is kept by later runs. */
export async function standInChain(folder: DemoFolder, releases: DemoReleases, firstPort: number): Promise<DemoChain> {
  const places = loopbackPlaces(VALIDATORS, firstPort);
  return {
    kind: 'stand-in',
    chainProfileId: 'stand-in-demo',
    binaryName: 'stand-in',
    releases,
    validators: await Promise.all(places.map((place) => prepare(folder, place, places))),
    startArguments: ({ home }) => [PROGRAM, 'start', '--home', home],
  };
}

async function prepare(folder: DemoFolder, place: ValidatorPlace, all: readonly ValidatorPlace[]): Promise<Validator> {
  const home = folder.at('network', place.name);
  const url = (port: number) => `http://${place.host}:${port}`;
  const address = createHash('sha256').update(place.name).digest('hex').slice(0, 40).toUpperCase();
  const peers = all.filter(({ name }) => name !== place.name).map(({ rpcPort }) => url(rpcPort));
  const { name, rpcPort, metricsPort } = place;
  await mkdir(home, { recursive: true });
  await writeFile(join(home, 'node.json'), JSON.stringify({ name, address, rpcPort, metricsPort, peers }));
  return { ...place, home, address, rpcUrl: url(rpcPort), metricsUrl: `${url(metricsPort)}/metrics` };
}
