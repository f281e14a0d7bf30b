import { describe, expect, test } from 'vitest';
import { decideNext } from './decide-next.ts';
import {
  ARMED_FOR_MS,
  REARM_MS,
  STAGE_AGAIN_MS,
  type StagedRollout,
  type StagedRow,
  stageGoal,
  stageOrder,
} from './staging.ts';
import { told } from './testing/decision-line.ts';
import { aNode, aRow, aSnapshot, inFlight } from './testing/snapshot-builder.ts';

const now = 1_000_000;
const rollout: StagedRollout = { status: 'running', direction: 'upgrade', stage: true, activatesOnHost: false };
const fresh: StagedRow = {
  status: 'pending',
  stageGoal: null,
  stageState: null,
  stageChangedAt: null,
  isBeingTold: false,
  online: true,
  mayArm: true,
};
const has = (state: 'staged' | 'armed'): StagedRow => ({
  ...fresh,
  stageGoal: state,
  stageState: state,
  stageChangedAt: now,
});

describe('what a node is told to have ready ahead', () => {
  test('it is told once, and not again while it works or once it is ready', () => {
    expect(stageOrder(rollout, fresh, now)).toBe('staged');
    const working = { ...fresh, stageGoal: 'staged', stageState: 'staging', isBeingTold: true } as const;
    expect(stageOrder(rollout, working, now)).toBeNull();
    expect(stageOrder(rollout, has('staged'), now)).toBeNull();
  });

  test('one that was not ready is told again after a while, if its agent is there', () => {
    const row = { ...has('staged'), stageState: 'not_ready', stageChangedAt: now } as const;
    expect(stageOrder(rollout, row, now + STAGE_AGAIN_MS - 1)).toBeNull();
    expect(stageOrder(rollout, row, now + STAGE_AGAIN_MS)).toBe('staged');
    expect(stageOrder(rollout, { ...row, online: false }, now + STAGE_AGAIN_MS)).toBeNull();
  });

  test('an agent that is away is not told to begin, and is told to take back what it has', () => {
    expect(stageOrder(rollout, { ...fresh, online: false }, now)).toBeNull();
    const canceled = { ...rollout, status: 'canceled' } as const;
    expect(stageOrder(canceled, { ...has('armed'), online: false }, now)).toBe('unstaged');
  });

  test.each(['canceled', 'failed', 'completed', 'rolled_back'] as const)(
    'a rollout that is %s takes back what a node has and was not used',
    (status) => {
      expect(stageOrder({ ...rollout, status }, has('staged'), now)).toBe('unstaged');
      expect(stageOrder({ ...rollout, status }, fresh, now)).toBeNull();
    },
  );

  test('a node that is left out, and a rollout on its way back, take it back too', () => {
    expect(stageOrder(rollout, { ...has('staged'), status: 'skipped' }, now)).toBe('unstaged');
    expect(stageOrder({ ...rollout, direction: 'rollback' }, has('staged'), now)).toBe('unstaged');
  });

  test('taking back is told until the agent says that it did', () => {
    const row = { ...has('staged'), stageGoal: 'unstaged' } as const;
    const canceled = { ...rollout, status: 'canceled' } as const;
    expect(stageOrder(canceled, row, now)).toBe('unstaged');
    expect(stageOrder(canceled, { ...row, isBeingTold: true }, now)).toBeNull();
    expect(stageOrder(canceled, { ...row, stageState: 'unstaged' }, now)).toBeNull();
  });

  test('an attempt that has begun decides for itself', () => {
    for (const status of ['in_progress', 'validating', 'succeeded', 'failed', 'rolled_back'] as const) {
      expect(stageGoal({ ...rollout, status: 'canceled' }, { ...has('staged'), status })).toBeNull();
    }
  });

  test('a pause disarms, and begins nothing new; running again arms again', () => {
    const onHost = { ...rollout, activatesOnHost: true };
    const paused = { ...onHost, status: 'paused' } as const;
    expect(stageOrder(onHost, fresh, now)).toBe('armed');
    expect(stageOrder(paused, fresh, now)).toBeNull();
    expect(stageOrder(paused, has('armed'), now)).toBe('staged');
    expect(stageOrder(onHost, has('staged'), now)).toBe('armed');
  });

  test('a rule of people or calendar disarms, and arms again once it is gone', () => {
    const onHost = { ...rollout, activatesOnHost: true };
    expect(stageOrder(onHost, { ...fresh, mayArm: false }, now)).toBe('staged');
    expect(stageOrder(onHost, { ...has('armed'), mayArm: false, online: false }, now)).toBe('staged');
    expect(stageOrder(onHost, has('staged'), now)).toBe('armed');
  });

  test('an armed node that is reached is told anew long before its order lapses', () => {
    const onHost = { ...rollout, activatesOnHost: true };
    expect(REARM_MS * 2).toBeLessThanOrEqual(ARMED_FOR_MS);
    expect(stageOrder(onHost, has('armed'), now + REARM_MS - 1)).toBeNull();
    expect(stageOrder(onHost, has('armed'), now + REARM_MS)).toBe('armed');
    expect(stageOrder(onHost, { ...has('armed'), online: false }, now + REARM_MS)).toBeNull();
  });

  test('a disarming that got no answer is told again', () => {
    const paused = { ...rollout, activatesOnHost: true, status: 'paused' } as const;
    expect(stageOrder(paused, { ...has('armed'), stageGoal: 'staged' }, now)).toBe('staged');
  });
});

describe('the phase before the first batch', () => {
  const staging = { stage: true, batchSize: 2 } as const;

  test('no node starts before all that are reached have said whether they are ready', () => {
    const nodes = [aRow('a', { stageState: 'staged' }), aRow('b', { stageState: 'not_ready' }), aRow('c')];
    const decision = decideNext(aSnapshot({ rollout: staging, nodes }), now);
    expect(decision).toMatchObject({
      kind: 'wait',
      reasons: [{ code: 'staging_nodes', params: { ready: 1, count: 3, not_ready: 1 } }],
    });
  });

  test('one of a later batch is waited for as well: staging knows no batches', () => {
    const nodes = [aRow('a', { stageState: 'staged' }), aRow('b', { batchIndex: 1, stageState: 'staging' })];
    expect(told(decideNext(aSnapshot({ rollout: staging, nodes }), now))).toBe('wait staging_nodes (running)');
  });

  test('neither one that can not, nor one whose agent is away, holds the others', () => {
    const nodes = [aRow('a', { stageState: 'not_ready' }), aRow('b')];
    const fleet = [aNode('b', { online: false })];
    expect(told(decideNext(aSnapshot({ rollout: staging, nodes, fleet }), now))).toBe('run a#1 b#1 (running)');
  });

  test('at the scheduled height or time it holds nobody', () => {
    const late = { rollout: { ...staging, startAtHeight: 500 }, chain: { bestHeight: 500, heightGrewAt: now } };
    expect(told(decideNext(aSnapshot({ ...late, nodes: [aRow('a')] }), now))).toBe('run a#1 (running)');
    const timed = aSnapshot({ rollout: { ...staging, startAt: now }, nodes: [aRow('a')] });
    expect(told(decideNext(timed, now))).toBe('run a#1 (running)');
  });

  test('it goes on from rows alone: what is in flight stays so, whatever was staged', () => {
    const nodes = [inFlight('a'), aRow('b', { stageState: 'staged' })];
    expect(told(decideNext(aSnapshot({ rollout: staging, nodes }), now))).toMatch(/^run b#1/);
  });
});

describe('where the agents swap by themselves', () => {
  const rollout = { strategy: 'all_at_once', stage: true, activation: 'height', startAtHeight: 500 } as const;
  const at = (bestHeight: number) => ({ bestHeight, heightGrewAt: now });

  test('nobody is started before the height, nor at it while the node has not told', () => {
    const nodes = [aRow('a', { stageState: 'armed' }), aRow('b', { stageState: 'armed' })];
    expect(told(decideNext(aSnapshot({ rollout, chain: at(499), nodes }), now))).toMatch(/armed_for_height/);
    expect(told(decideNext(aSnapshot({ rollout, chain: at(500), nodes }), now))).toBe(
      'wait armed_for_height (running)',
    );
  });

  test('a node that told its swap is taken at once, whatever else holds', () => {
    const nodes = [aRow('a', { stageState: 'activated' }), aRow('b', { stageState: 'armed' })];
    expect(told(decideNext(aSnapshot({ rollout, chain: at(499), nodes }), now))).toMatch(/^run a#1/);
  });

  test('past the height a node that is reached and did nothing is upgraded late; one that is away is waited for', () => {
    const nodes = [aRow('a', { stageState: 'not_ready' }), aRow('b', { stageState: 'armed' })];
    const fleet = [aNode('b', { online: false })];
    expect(told(decideNext(aSnapshot({ rollout, chain: at(501), nodes, fleet }), now))).toBe('run a#1 (running)');
  });

  test('what swapped is told nothing more', () => {
    const row = { ...has('armed'), stageState: 'activated' } as const;
    expect(
      stageOrder({ status: 'canceled', direction: 'upgrade', stage: true, activatesOnHost: true }, row, now),
    ).toBeNull();
  });
});
