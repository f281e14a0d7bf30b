import { describe, expect, test } from 'vitest';
import { type ControlFacts, controlFacts, controlVerdict } from './control-verdict.ts';
import { effectiveControls } from './effective-controls.ts';
import { ROLLOUT_CONTROLS, type RolloutControlKind } from './rollout-control.ts';
import { ROLLOUT_STATUSES, type RolloutStatus } from './rollout-status.ts';
import { aControl, aRow, aSnapshot, ended } from './testing/snapshot-builder.ts';

/** Facts under which every control is legal as far as its details go, so that only the status decides. */
const willing = (kind: RolloutControlKind, status: RolloutStatus): ControlFacts => ({
  status,
  direction: 'upgrade',
  strategy: 'canary',
  migrationType: 'breaking',
  pausePending: status === 'running',
  cancelPending: false,
  canaryBatchEnded: true,
  succeededNodes: 1,
  newerRolloutId: null,
  node: { status: kind === 'skip' ? 'pending' : 'failed', attemptDirection: 'upgrade', newerRolloutId: null },
});

/** Control by status, in the order of ROLLOUT_STATUSES: pending running paused completed failed canceled rolled_back (C3, C6, C8). */
const TABLE: Record<RolloutControlKind, string> = {
  start: 'y......',
  pause: '.y.....',
  resume: '.yy....',
  cancel: 'yyy....',
  force: 'yyy....',
  approve_canary: '.yy....',
  rollback: '.yyyyy.',
  retry: '.yyyy.y',
  skip: 'yyy....',
};

describe.each(ROLLOUT_CONTROLS)('%s', (kind) => {
  test.each(ROLLOUT_STATUSES.map((status, column) => [status, TABLE[kind][column] === 'y'] as const))(
    'on a %s rollout is legal: %s',
    (status, legal) => {
      const verdict = controlVerdict(kind, willing(kind, status));
      expect(verdict.legal).toBe(legal);
      if (!verdict.legal) {
        expect(verdict.code).toBe('control_not_legal');
        expect(verdict.message).toContain(`this one is ${status}`);
      }
    },
  );
});

const refusal = (kind: RolloutControlKind, status: RolloutStatus, over: Partial<ControlFacts>) => {
  const verdict = controlVerdict(kind, { ...willing(kind, status), ...over });
  return verdict.legal ? 'legal' : verdict.code;
};

describe('what the details add', () => {
  test('resume of a running rollout only while a pause is pending', () => {
    expect(refusal('resume', 'running', { pausePending: false })).toBe('not_paused');
    expect(refusal('resume', 'running', { pausePending: true })).toBe('legal');
  });

  test('approve only for a canary rollout of a breaking migration whose canary batch has ended', () => {
    expect(refusal('approve_canary', 'running', { strategy: 'rolling' })).toBe('approval_not_needed');
    expect(refusal('approve_canary', 'running', { migrationType: 'compatible' })).toBe('approval_not_needed');
    expect(refusal('approve_canary', 'running', { direction: 'rollback' })).toBe('approval_not_needed');
    expect(refusal('approve_canary', 'running', { canaryBatchEnded: false })).toBe('canary_not_ended');
  });

  test('approve any rollout that waits for a second person before its first node', () => {
    const due = { startApprovalDue: true, strategy: 'rolling', canaryBatchEnded: false } as const;
    expect(refusal('approve_canary', 'running', due)).toBe('legal');
    expect(refusal('approve_canary', 'pending', due)).toBe('control_not_legal');
  });

  test('rollback only with succeeded nodes that no newer rollout has touched (C3)', () => {
    expect(refusal('rollback', 'completed', { succeededNodes: 0 })).toBe('nothing_to_roll_back');
    expect(refusal('rollback', 'completed', { newerRolloutId: 'r2' })).toBe('newer_rollout');
    expect(refusal('rollback', 'running', { direction: 'rollback' })).toBe('rollback_under_way');
    expect(refusal('rollback', 'canceled', { direction: 'rollback' })).toBe('legal');
  });

  test('retry only for a failed or rolled back node that no newer rollout has touched (C8)', () => {
    for (const status of ['pending', 'in_progress', 'validating', 'succeeded', 'skipped'] as const) {
      expect(refusal('retry', 'running', { node: { status, attemptDirection: 'upgrade', newerRolloutId: null } })).toBe(
        'node_not_retryable',
      );
    }
    expect(
      refusal('retry', 'running', {
        node: { status: 'rolled_back', attemptDirection: 'upgrade', newerRolloutId: null },
      }),
    ).toBe('legal');
    expect(
      refusal('retry', 'running', { node: { status: 'failed', attemptDirection: 'upgrade', newerRolloutId: 'r2' } }),
    ).toBe('newer_rollout');
    expect(refusal('retry', 'running', { node: null })).toBe('node_not_in_rollout');
  });

  test('after a rollback only its own attempts can be retried', () => {
    const failed = { status: 'failed', newerRolloutId: null } as const;
    const back = { direction: 'rollback' } as const;
    expect(refusal('retry', 'failed', { ...back, node: { ...failed, attemptDirection: 'upgrade' } })).toBe(
      'rolled_back',
    );
    expect(refusal('retry', 'failed', { ...back, node: { ...failed, attemptDirection: 'rollback' } })).toBe('legal');
  });

  test('skip only for a pending node', () => {
    expect(
      refusal('skip', 'running', {
        node: { status: 'in_progress', attemptDirection: 'upgrade', newerRolloutId: null },
      }),
    ).toBe('node_not_pending');
    expect(refusal('skip', 'running', { node: null })).toBe('node_not_in_rollout');
  });

  test('a pending cancel leaves only another cancel and a rollback legal (field-case 90)', () => {
    const legal = ROLLOUT_CONTROLS.filter((kind) => refusal(kind, 'running', { cancelPending: true }) === 'legal');
    expect(legal).toEqual(['cancel', 'rollback']);
  });
});

describe('facts of a snapshot', () => {
  const none = { rollout: null, node: null };

  test('tell a pending pause, the node and whether the canaries ended', () => {
    const snapshot = aSnapshot({
      rollout: { strategy: 'canary', migrationType: 'breaking' },
      nodes: [ended('a', 'succeeded'), aRow('b', { batchIndex: 1 })],
      controls: [aControl('pause', 5)],
    });
    expect(controlFacts(snapshot, none, 'b')).toEqual({
      status: 'running',
      direction: 'upgrade',
      strategy: 'canary',
      migrationType: 'breaking',
      pausePending: true,
      cancelPending: false,
      canaryBatchEnded: true,
      startApprovalDue: false,
      succeededNodes: 1,
      inGroup: false,
      newerRolloutId: null,
      node: { status: 'pending', attemptDirection: 'upgrade', newerRolloutId: null },
    });
    expect(controlFacts(snapshot, none, 'nobody').node).toBeNull();
  });

  test('a canary batch that is not planned yet has not ended', () => {
    expect(controlFacts(aSnapshot({ rollout: { targetsResolved: false } }), none).canaryBatchEnded).toBe(false);
  });

  test('a cancel of a rollout that was rolled back later is pending no more', () => {
    const controls = [aControl('cancel', 1), aControl('rollback', 2)];
    expect(controlFacts(aSnapshot({ controls }), none).cancelPending).toBe(false);
  });
});

describe('effective controls', () => {
  const folded = (...kinds: RolloutControlKind[]) => {
    const found = effectiveControls(kinds.map((kind, index) => aControl(kind, index)));
    return Object.entries(found)
      .filter(([, control]) => control !== null)
      .map(([name]) => name)
      .sort()
      .join(' ');
  };

  test.each([
    [['pause'], 'pause'],
    [['pause', 'resume'], 'resume'],
    [['pause', 'resume', 'pause'], 'pause resume'],
    [['pause', 'cancel'], 'cancel'],
    [['cancel', 'resume'], 'cancel'],
    [['cancel', 'pause'], 'cancel'],
    [['cancel', 'rollback'], 'rollback'],
    [['rollback', 'cancel'], 'cancel'],
    [['pause', 'rollback'], 'rollback'],
    [['rollback', 'pause'], 'pause rollback'],
    [['force', 'pause', 'resume'], 'force resume'],
    [['start', 'retry', 'skip', 'approve_canary'], 'approval start'],
  ] as [RolloutControlKind[], string][])('%j leave in force: %s', (kinds, inForce) => {
    expect(folded(...kinds)).toBe(inForce);
  });
});
