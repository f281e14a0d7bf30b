import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ensureCometbft } from './cometbft-binaries.ts';
import { createNetwork, DEFAULT_PORTS, loopbackPlaces } from './cometbft-network.ts';
import { height, signedHeights } from './cometbft-rpc.ts';

const running: ChildProcess[] = [];
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cometbft-'));
});
afterEach(async () => {
  for (const child of running.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  await rm(dir, { recursive: true, force: true }); // only now: a node that lives writes into it meanwhile
});

/** All of 127.0.0.0/8 is loopback: on an address of its own a test shares its ports with nobody. */
function ownLoopbackAddress(): string {
  return [127, randomInt(1, 255), randomInt(0, 255), randomInt(2, 255)].join('.');
}

it('forms one live network of two validators on a loopback address', async () => {
  const binary = await ensureCometbft('v0.38.17');
  const host = ownLoopbackAddress();
  const places = loopbackPlaces(2, DEFAULT_PORTS.p2pPort).map((place) => ({ ...place, host }));

  const validators = await createNetwork({ binary: binary.path, dir: join(dir, 'network'), places });
  for (const { home } of validators) {
    running.push(spawn(binary.path, ['start', '--home', home], { stdio: 'ignore' }));
  }
  const [first, second] = validators.map(({ rpcUrl }) => rpcUrl) as [string, string];
  const reaches = (url: string) => () =>
    height(url).then(
      (at) => at >= 2,
      () => false,
    );
  await vi.waitUntil(reaches(first), { timeout: 240_000, interval: 100 });
  await vi.waitUntil(reaches(second), { timeout: 240_000, interval: 100 });

  // With two of equal power no block exists that either of them did not sign.
  for (const { address } of validators) expect(await signedHeights(first, address, 1, 1)).toEqual([1]);
  const metrics = await (await fetch(validators[0]?.metricsUrl ?? '')).text();
  expect(metrics).toContain('cometbft_consensus_latest_block_height');
});
