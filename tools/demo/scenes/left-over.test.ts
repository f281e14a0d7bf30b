import { expect, it } from 'vitest';
import type { DemoRelease } from '../chain/demo-chain.ts';
import type { SetStage } from '../stage/stage.ts';
import { DemoLeftOver, releaseToRoll } from './left-over.ts';

const old: DemoRelease = { version: 'v1', path: '/old', sha256: 'aa' };
const good: DemoRelease = { version: 'v2', path: '/good', sha256: 'bb' };
const stage = { chain: { releases: { old, good } } } as unknown as SetStage;
const running = (...hashes: string[]) => hashes.map((sha256, index) => ({ name: `node-${index}`, pid: 1, sha256 }));

it('rolls the newer release first and, when an earlier run left that, the older one', () => {
  expect(releaseToRoll(stage, running('aa', 'aa'))).toBe(good);
  expect(releaseToRoll(stage, running('bb', 'bb'))).toBe(old);
});

it('says how to begin anew when an earlier run was interrupted between two nodes', () => {
  expect(() => releaseToRoll(stage, running('aa', 'bb'))).toThrow(DemoLeftOver);
  expect(() => releaseToRoll(stage, running('aa', 'cc'))).toThrow('npm run demo -- --reset');
});
