import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { judgeActivation, readPlanFile } from './activation-trigger.ts';

const halt = { height: 500, planName: null, heightMetric: 'height', lapsesAtMs: null };
const planned = { height: 500, planName: 'v19', heightMetric: 'height', lapsesAtMs: null };
const seen = { height: null, endedByItself: false, plan: null };

describe('a node without a plan is swapped', () => {
  test.each([
    ['at the height, while it runs: the block may not be applied yet', 500, false, 'wait'],
    ['past the height', 501, false, 'swap'],
    ['when it ended by itself at the height', 500, true, 'swap'],
    ['when it ended by itself while it made that block', 499, true, 'swap'],
    ['not when it ended by itself long before', 490, true, 'wait'],
    ['not while nobody knows its height', null, true, 'wait'],
  ] as const)('%s', (_, height, endedByItself, verdict) => {
    expect(judgeActivation(halt, { ...seen, height, endedByItself }, 0).kind).toBe(verdict);
  });
});

test('an order that lapsed is never carried out, whatever the node shows', () => {
  const lapsing = { ...halt, lapsesAtMs: 1_000 };
  expect(judgeActivation(lapsing, { ...seen, height: 501 }, 999).kind).toBe('swap');
  expect(judgeActivation(lapsing, { ...seen, height: 501 }, 1_000).kind).toBe('lapsed');
});

describe('a node with a plan', () => {
  const plan = (name: string, isNew = true) => ({ path: '/data/upgrade-info.json', name, height: 500, isNew });

  test('is swapped when it wrote the plan of this upgrade, and by nothing else', () => {
    expect(judgeActivation(planned, { ...seen, plan: plan('v19') }, 0).kind).toBe('swap');
    expect(judgeActivation(planned, { ...seen, height: 900, endedByItself: true }, 0).kind).toBe('wait');
  });

  test('that is another one is told, with both names, and not swapped', () => {
    const verdict = judgeActivation(planned, { ...seen, plan: plan('v20') }, 0);
    expect(verdict).toMatchObject({ kind: 'other_plan', message: expect.stringMatching(/"v20".*500.*"v19"/) });
  });

  test('of the last upgrade, which stays on the disk for good, is nobody’s news', () => {
    expect(judgeActivation(planned, { ...seen, plan: plan('v18', false) }, 0).kind).toBe('wait');
  });
});

describe('the plan file', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hoodcloud-plan-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('is found below the home of the node, and in its data folder', async () => {
    expect(await readPlanFile(folder, 0)).toBeNull();
    await mkdir(join(folder, 'data'));
    await writeFile(join(folder, 'data', 'upgrade-info.json'), '{"name":"v19","height":"500","info":"{}"}');
    expect(await readPlanFile(folder, 0)).toMatchObject({ name: 'v19', height: 500, isNew: true });
    expect(await readPlanFile(join(folder, 'data'), 0)).toMatchObject({ name: 'v19' });
  });

  test('that is only half written is read at the next look', async () => {
    await writeFile(join(folder, 'upgrade-info.json'), '{"name":"v1');
    expect(await readPlanFile(folder, 0)).toBeNull();
  });

  test('tells whether it was written since the upgrade was staged', async () => {
    await writeFile(join(folder, 'upgrade-info.json'), '{"name":"v18","height":1}');
    await utimes(join(folder, 'upgrade-info.json'), 1_000, 1_000);
    expect(await readPlanFile(folder, 2_000_000)).toMatchObject({ isNew: false });
  });
});
