import { expect, test } from 'vitest';
import { controlFacts, controlVerdict } from './control-verdict.ts';
import { decideNext } from './decide-next.ts';
import { FAILURE_POLICIES } from './rollout-group-status.ts';
import { aControl, aRow, aSnapshot, ended } from './testing/snapshot-builder.ts';

test.each([null, ...FAILURE_POLICIES])('a rollout over its threshold, in a group with policy %s (C4)', (policy) => {
  const rollout = { groupFailurePolicy: policy };
  const decision = decideNext(aSnapshot({ rollout, nodes: [ended('a', 'failed'), aRow('b')] }), 2_000);
  const decides = policy === 'partial_ok' || policy === 'rollback_all';
  expect(decision).toMatchObject({
    kind: decides ? 'finish' : 'pause',
    status: decides ? 'failed' : 'paused',
    reason: { code: 'failure_threshold_exceeded' },
  });
});

test("a person's pause is a pause whatever the policy of the group", () => {
  const rollout = { groupFailurePolicy: 'rollback_all' as const };
  const controls = [aControl('pause', 1_500)];
  const decision = decideNext(aSnapshot({ rollout, nodes: [aRow('a')], controls }), 2_000);
  expect(decision).toMatchObject({ kind: 'pause', reason: { code: 'paused_by_operator' } });
});

test('what ends or turns a component is ordered of its group (C2, C10)', () => {
  const snapshot = aSnapshot({
    rollout: { groupFailurePolicy: 'manual' },
    nodes: [ended('a', 'succeeded'), aRow('b')],
  });
  const facts = controlFacts(snapshot, { rollout: null, node: null });
  const verdict = (kind: 'cancel' | 'rollback' | 'pause') => controlVerdict(kind, facts);
  expect(verdict('cancel')).toMatchObject({ legal: false, code: 'belongs_to_group' });
  expect(verdict('rollback')).toMatchObject({ legal: false, code: 'belongs_to_group' });
  expect(verdict('pause')).toEqual({ legal: true });
});
