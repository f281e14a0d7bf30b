import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { type CometbftRelease, ensureCometbft } from '@hoodcloud/testkit/chains/cometbft-binaries';
import { createNetwork, loopbackPlaces, type Validator } from '@hoodcloud/testkit/chains/cometbft-network';
import type { BuildProgress, EnsureOptions } from '@hoodcloud/testkit/chains/go-binaries';
import type { DemoFolder } from '../stage/demo-state.ts';
import type { Narrator } from '../stage/narrator.ts';
import { type DemoChain, type DemoRelease, type DemoReleases, VALIDATORS } from './demo-chain.ts';

const EVERY_SECONDS = 15;
/** All four share one machine: an absent proposer needn't be waited for as across the world. */
const PROPOSE_MS = 1000;

/** Real releases, built once per machine. The first two are awaited, the third is built while the first rollout runs. */
export async function cometbftReleases(narrator: Narrator, signal: AbortSignal): Promise<DemoReleases> {
  const onProgress = (progress: BuildProgress) => tell(narrator, progress);
  const old = await ensure('v0.38.17', { signal, onProgress });
  const good = await ensure('v0.38.21', { signal, onProgress });
  // Quiet: between the lines of a live view its progress would only disturb.
  const bad = ensure('v1.0.1', { signal, inBackground: true });
  bad.catch(() => undefined); // whoever awaits it meets the error; until then it is nobody's
  return { old, good, bad };
}

async function ensure(version: CometbftRelease, options: EnsureOptions): Promise<DemoRelease> {
  const { path, sha256 } = await ensureCometbft(version, options);
  return { version, path, sha256 };
}

function tell(narrator: Narrator, { release, state, elapsedSeconds, expectedSeconds }: BuildProgress): void {
  if (state === 'building' && elapsedSeconds % EVERY_SECONDS !== 0) return;
  const words = {
    cached: 'is there from an earlier run',
    built: `is built (${elapsedSeconds} s)`,
    building: `go install … (usually ${expectedSeconds} s) … ${elapsedSeconds} s`,
  };
  narrator.say(`CometBFT ${release}: ${words[state]}`);
}

/** Four validators on the loopback address; made by the first run, found by later ones. */
export async function cometbftChain(folder: DemoFolder, releases: DemoReleases, firstPort: number): Promise<DemoChain> {
  return {
    kind: 'cometbft',
    chainProfileId: 'cometbft-demo',
    binaryName: 'cometbft',
    releases,
    validators: await network(folder, releases.old.path, firstPort),
    startArguments: ({ home }) => ['start', '--home', home],
  };
}

async function network(folder: DemoFolder, binary: string, firstPort: number): Promise<readonly Validator[]> {
  const record = folder.at('network.json'); // written last: without it the network is not whole
  if (existsSync(record)) return JSON.parse(await readFile(record, 'utf8')) as Validator[];
  const places = loopbackPlaces(VALIDATORS, firstPort);
  const validators = await createNetwork({ binary, dir: folder.at('network'), places, proposeTimeoutMs: PROPOSE_MS });
  await writeFile(record, JSON.stringify(validators, null, 2));
  return validators;
}
