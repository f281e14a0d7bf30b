import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { ensureCometbft } from './cometbft-binaries.ts';
import { createNetwork, loopbackPlaces } from './cometbft-network.ts';
import { height, signedHeights } from './cometbft-rpc.ts';

const running: ChildProcess[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
});

/** Free ports of the loopback address, all held at once so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  return ports;
}

it('forms one live network of two validators on the loopback address', async () => {
  const binary = await ensureCometbft('v0.38.17');
  const dir = await mkdtemp(join(tmpdir(), 'cometbft-'));
  const ports = await freePorts(6);
  const places = loopbackPlaces(2, 1).map((place, index) => {
    const [p2pPort = 0, rpcPort = 0, metricsPort = 0] = ports.slice(index * 3);
    return { ...place, p2pPort, rpcPort, metricsPort };
  });

  const validators = await createNetwork({ binary: binary.path, dir, places });
  for (const { home } of validators) {
    running.push(spawn(binary.path, ['start', '--home', home], { stdio: 'ignore' }));
  }
  const [first, second] = validators.map(({ rpcUrl }) => rpcUrl) as [string, string];
  const reaches = (url: string) => () =>
    height(url).then(
      (at) => at >= 2,
      () => false,
    );
  await vi.waitUntil(reaches(first), { timeout: 60_000, interval: 100 });
  await vi.waitUntil(reaches(second), { timeout: 60_000, interval: 100 });

  // With two of equal power no block exists that either of them did not sign.
  for (const { address } of validators) expect(await signedHeights(first, address, 1, 1)).toEqual([1]);
  const metrics = await (await fetch(validators[0]?.metricsUrl ?? '')).text();
  expect(metrics).toContain('cometbft_consensus_latest_block_height');
  await rm(dir, { recursive: true, force: true });
});
