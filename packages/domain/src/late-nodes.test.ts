import { describe, expect, test } from 'vitest';
import { isLate, type LateCandidate, lateBatches, looksForLateNodes } from './late-nodes.ts';
import { reason } from './reasons.ts';
import type { RolloutDecision } from './rollout-decision.ts';
import type { RolloutFacts } from './rollout-snapshot.ts';

const finish = (code: 'all_nodes_ended' | 'no_eligible_targets' | 'failure_threshold_exceeded'): RolloutDecision => ({
  kind: 'finish',
  status: 'completed',
  reason: reason(code),
});
const running = { lateNodes: 'include', status: 'running', direction: 'upgrade' } as const;
const looks = (differs: Partial<RolloutFacts> = {}, decision = finish('all_nodes_ended')) =>
  looksForLateNodes({ ...running, ...differs }, decision);

describe('a rollout looks for late nodes', () => {
  test('when all others have ended, or nobody was there at the start', () => {
    expect(looks()).toBe(true);
    expect(looks({}, finish('no_eligible_targets'))).toBe(true);
  });

  test('not before, and not when it stops for another reason', () => {
    expect(looks({}, { kind: 'wait', status: 'running', until: null, reasons: [reason('not_started')] })).toBe(false);
    expect(looks({}, finish('failure_threshold_exceeded'))).toBe(false);
  });

  test('never unless it was told to, never on the way back, and never once it is over', () => {
    expect(looks({ lateNodes: 'ignore' })).toBe(false);
    expect(looks({ lateNodes: undefined })).toBe(false);
    expect(looks({ direction: 'rollback' })).toBe(false);
    for (const status of ['pending', 'paused', 'completed', 'failed', 'canceled', 'rolled_back'] as const) {
      expect(looks({ status }), status).toBe(false);
    }
  });
});

test.each([
  ['one that joined meanwhile', { row: null }, true],
  ['one that joined and is away', { row: null, online: false }, false],
  ['one that was offline at its turn', { row: { status: 'skipped', statusReason: 'agent_offline' } }, true],
  ['one whose agent had never joined', { row: { status: 'skipped', statusReason: 'never_joined' } }, true],
  ['one that is still offline', { online: false, row: { status: 'skipped', statusReason: 'agent_offline' } }, false],
  ['one that was picked up before', { row: { status: 'skipped', statusReason: 'agent_offline', late: true } }, false],
  ['one that a person skipped', { row: { status: 'skipped', statusReason: 'skipped_by_operator' } }, false],
  ['one that failed', { row: { status: 'failed', statusReason: 'agent_unreachable' } }, false],
  ['one that succeeded', { row: { status: 'succeeded' } }, false],
] as [string, { online?: boolean; row: object | null }, boolean][])(
  '%s is picked up: %#',
  (_, { online, row }, late) => {
    const candidate = { online: online ?? true, row: row && { late: false, ...row } } as LateCandidate;
    expect(isLate(candidate)).toBe(late);
  },
);

describe('late nodes', () => {
  const plan = { strategy: 'rolling', batchSize: 2, canarySize: 1, seed: 'r', nodes: ['a', 'b', 'c'] } as const;
  const batches = (differs: object, last: number | null) =>
    [...lateBatches({ ...plan, ...differs }, last)].map(([node, batch]) => `${node}${batch}`).sort();

  test('come in batches of the rollout’s size after the last one', () => {
    expect(batches({}, 4)).toEqual(['a5', 'b5', 'c6']);
    expect(batches({ strategy: 'canary' }, 0)).toEqual(['a1', 'b1', 'c2']);
    expect(batches({ strategy: 'all_at_once' }, 0)).toEqual(['a1', 'b1', 'c1']);
  });

  test('begin with canaries where everybody was away at the start', () => {
    const sizes = [...lateBatches({ ...plan, strategy: 'canary' }, null).values()].sort();
    expect(sizes).toEqual([0, 1, 1]);
  });
});
