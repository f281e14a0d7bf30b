import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { height } from '@hoodcloud/testkit/chains/cometbft-rpc';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { DemoChain, DemoRelease } from '../chain/demo-chain.ts';
import { observeNodes } from '../report/observe-nodes.ts';
import { DemoFolder } from '../stage/demo-state.ts';
import { freePortRange } from '../stage/free-ports.ts';
import { standInChain } from './stand-in-chain.ts';
import { standInReleases } from './stand-in-releases.ts';

let folder: string;
let chain: DemoChain;
const running: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stand-in-'));
  const releases = await standInReleases(join(folder, 'releases'));
  chain = await standInChain(new DemoFolder(folder), releases, await freePortRange(12, 28_000));
}, 60_000);

afterAll(async () => {
  await Promise.all(running.map(end));
  await rm(folder, { recursive: true });
});

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

function start({ path }: DemoRelease, index: number): ChildProcess {
  const validator = chain.validators[index];
  if (!validator) throw new Error(`no validator ${index}`);
  const child = spawn(path, [...chain.startArguments(validator)], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(child);
  return child;
}

const tip = (index: number) => height(chain.validators[index]?.rpcUrl ?? '').catch(() => 0);
const grows = async (index: number, by: number) => {
  const from = await tip(index);
  await vi.waitUntil(async () => (await tip(index)) >= from + by, { timeout: 20_000, interval: 50 });
};

it('makes blocks while more than two thirds are up, keeps its data, and is known by its hash', async () => {
  const { old, good } = chain.releases;
  const children = [0, 1, 2].map((index) => start(old, index));
  await grows(0, 2);
  const seen = await observeNodes(chain.validators.slice(0, 1));
  expect(seen).toMatchObject([{ name: 'validator-1', sha256: old.sha256, pid: children[0]?.pid }]);

  // The newer release goes on with the data of the older one.
  await end(children[2] as ChildProcess);
  start(good, 2);
  await grows(2, 2);

  const refused = start(await chain.releases.bad, 2);
  let said = '';
  refused.stdout?.on('data', (chunk) => {
    said += chunk;
  });
  const [code] = await once(refused, 'exit');
  expect(code).toBe(2);
  expect(said).toContain('panic: data folder');
}, 60_000);
