import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeChain } from './stack/chain-folder.ts';
import { Stack } from './stack/stack.ts';
import { OwnStores } from './stack/stores.ts';
import type { TinyHost } from './stack/tiny-host.ts';
import { tinyRelease } from './stack/tiny-release.ts';

const OLD = tinyRelease('v1.0.0');
const NEW = tinyRelease('v2.0.0');

let stores: OwnStores;
let stack: Stack;
beforeAll(async () => {
  stores = await OwnStores.start();
  stack = await Stack.open(stores);
});
afterAll(() => stack?.dispose());

it('upgrades two nodes of a chain one after the other, and stops each once', async () => {
  writeChain(stack.plane.configDir, 'alpha', { known: [OLD] });
  const hosts: TinyHost[] = await stack.fleet('alpha', 2, OLD);
  const id = await stack.create('alpha', stack.offer('alpha', NEW), '--strategy', 'rolling', '--start');
  await stack.untilStatus(id, 'completed');
  for (const host of hosts) expect(host.journal('stops')).toEqual(['v1.0.0 runs']);
});
