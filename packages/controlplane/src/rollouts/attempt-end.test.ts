import { UPGRADE_ACTION_NAMES } from '@hoodcloud/domain/upgrade-phase';
import { describe, expect, it } from 'vitest';
import { type AttemptEvidence, type CommandEvidence, judgeAttemptEnd } from './attempt-end.ts';

const command = (change: Partial<CommandEvidence> = {}): CommandEvidence => ({
  status: 'completed',
  outcome: 'completed',
  error: '',
  begun: UPGRADE_ACTION_NAMES,
  ...change,
});

const evidence = (change: Partial<AttemptEvidence> = {}): AttemptEvidence => ({
  direction: 'upgrade',
  upgrade: command(),
  compensate: null,
  healthFailure: null,
  controlPlaneError: null,
  ...change,
});

const rolledBack = command({ status: 'failed', outcome: 'rolled_back', error: 'it panics' });
const PREPARING = ['backup_state', 'acquire_artifact', 'verify_artifact'];
const untouched = command({ status: 'failed', outcome: 'rolled_back', error: 'it is a web page', begun: PREPARING });
const refused = command({ status: 'failed', outcome: 'refused', error: 'the disk is full' });
const failedRollback = command({ status: 'failed', outcome: 'failed_rollback', error: 'the backup is gone' });
const expired = command({ status: 'expired', outcome: null });
const superseded = command({ status: 'superseded', outcome: null });
const UNHEALTHY = '4 restarts since the upgrade.';

describe('an upgrade', () => {
  it.each([
    [
      'undone by the agent',
      { upgrade: rolledBack },
      'rolled_back',
      'ROLLED_BACK',
      'upgrade_rolled_back',
      'prior',
      null,
    ],
    [
      'that failed before the stop, so that nothing was touched (A10)',
      { upgrade: untouched },
      'rolled_back',
      'ROLLED_BACK',
      'upgrade_untouched',
      'prior',
      null,
    ],
    [
      "that failed before the stop, a vendor's step at on_error after it",
      { upgrade: command({ status: 'failed', outcome: 'rolled_back', begun: [...PREPARING, 'on_error:collect'] }) },
      'rolled_back',
      'ROLLED_BACK',
      'upgrade_untouched',
      'prior',
      null,
    ],
    [
      'that failed while it stopped the node',
      { upgrade: command({ status: 'failed', outcome: 'rolled_back', begun: [...PREPARING, 'stop_node'] }) },
      'rolled_back',
      'ROLLED_BACK',
      'upgrade_rolled_back',
      'prior',
      null,
    ],
    ['refused', { upgrade: refused }, 'failed', undefined, 'upgrade_refused', 'prior', null],
    [
      'not undone',
      { upgrade: failedRollback },
      'failed',
      'FAILED_ROLLBACK',
      'failed_rollback',
      'degraded',
      'upgrade_failed',
    ],
    ['unanswered', { upgrade: expired }, 'failed', undefined, 'agent_unreachable', 'down', null],
    ['superseded', { upgrade: superseded }, 'failed', undefined, 'superseded', 'prior', null],
    [
      'not sent',
      { upgrade: null, controlPlaneError: 'no variable' },
      'failed',
      undefined,
      'internal_error',
      'prior',
      null,
    ],
    [
      'unhealthy and undone',
      { healthFailure: UNHEALTHY, compensate: command() },
      'failed',
      'ROLLED_BACK',
      'health_failed',
      'prior',
      null,
    ],
    [
      'unhealthy and not undone',
      { healthFailure: UNHEALTHY, compensate: failedRollback },
      'failed',
      'FAILED_ROLLBACK',
      'failed_rollback',
      'degraded',
      'upgrade_failed',
    ],
    [
      'unhealthy and its undo refused',
      { healthFailure: UNHEALTHY, compensate: refused },
      'failed',
      'FAILED_ROLLBACK',
      'failed_rollback',
      'degraded',
      'upgrade_failed',
    ],
    [
      'unhealthy and its undo unanswered',
      { healthFailure: UNHEALTHY, compensate: expired },
      'failed',
      'FAILED_ROLLBACK',
      'agent_unreachable',
      'degraded',
      'upgrade_failed',
    ],
  ] as const)('%s', (_, change, status, phase, code, nodeState, incident) => {
    const end = judgeAttemptEnd(evidence(change));
    expect([end.status, end.phase, end.reason.code, end.nodeState, end.incident]).toEqual([
      status,
      phase,
      code,
      nodeState,
      incident,
    ]);
  });

  it('each FAILED_ROLLBACK has an incident, and nothing else has one (C9)', () => {
    const commands = [null, command(), rolledBack, refused, failedRollback, expired, superseded];
    for (const upgrade of commands.slice(2)) {
      const end = judgeAttemptEnd(evidence({ upgrade }));
      expect(end.incident !== null, `${upgrade?.status} ${upgrade?.outcome}`).toBe(end.phase === 'FAILED_ROLLBACK');
    }
    for (const compensate of commands.slice(1)) {
      const end = judgeAttemptEnd(evidence({ healthFailure: UNHEALTHY, compensate }));
      expect(end.incident !== null, `${compensate?.status} ${compensate?.outcome}`).toBe(
        end.phase === 'FAILED_ROLLBACK',
      );
    }
  });

  it('says the old version is there again only when the host undid it', () => {
    const undone = (change: Partial<AttemptEvidence>) => judgeAttemptEnd(evidence(change)).undone;
    expect(undone({ upgrade: rolledBack })).toBe(true);
    expect(undone({ healthFailure: UNHEALTHY, compensate: command() })).toBe(true);
    for (const upgrade of [untouched, refused, failedRollback, expired, superseded])
      expect(undone({ upgrade })).toBe(false);
    expect(undone({ healthFailure: UNHEALTHY, compensate: expired })).toBe(false);
  });

  it('without any failure is a bug of the caller', () => {
    expect(() => judgeAttemptEnd(evidence())).toThrow(/no failed validation/);
    expect(() => judgeAttemptEnd(evidence({ healthFailure: UNHEALTHY }))).toThrow(/compensated before/);
  });
});

describe('a rollback', () => {
  it.each([
    ['undone by the agent', { upgrade: rolledBack }],
    ['refused', { upgrade: refused }],
    ['not undone', { upgrade: failedRollback }],
    ['unanswered', { upgrade: expired }],
    ['not sent', { upgrade: null, controlPlaneError: 'no previous version' }],
    ['unhealthy', { healthFailure: UNHEALTHY }],
  ] as const)('%s: the row is failed, never rolled_back, and a person is told', (_, change) => {
    const end = judgeAttemptEnd(evidence({ direction: 'rollback', ...change }));
    expect(end).toMatchObject({ status: 'failed', incident: 'upgrade_rollback_failed' });
  });

  it('that gets unhealthy stays on the old version and is degraded (spec, Tier 3)', () => {
    const end = judgeAttemptEnd(evidence({ direction: 'rollback', healthFailure: UNHEALTHY }));
    expect(end).toMatchObject({ phase: 'FAILED_ROLLBACK', nodeState: 'degraded', reason: { code: 'health_failed' } });
  });
});

describe("a vendor's step after the proof of health (ADR 0046)", () => {
  const step = (change: Partial<CommandEvidence>) =>
    judgeAttemptEnd({
      direction: 'upgrade',
      upgrade: command({ status: 'completed', outcome: 'completed' }),
      compensate: null,
      confirmation: command({ status: 'failed', outcome: 'rolled_back', error: 'the step said no', ...change }),
      healthFailure: null,
      controlPlaneError: null,
    });

  it.each([
    ['undone by the agent', {}, 'ROLLED_BACK', 'health_failed', 'prior', null, true],
    [
      'not undone',
      { outcome: 'failed_rollback' },
      'FAILED_ROLLBACK',
      'failed_rollback',
      'degraded',
      'upgrade_failed',
      false,
    ],
    ['refused', { outcome: 'refused' }, 'FAILED_ROLLBACK', 'failed_rollback', 'degraded', 'upgrade_failed', false],
    [
      'unanswered',
      { status: 'expired', outcome: null },
      'FAILED_ROLLBACK',
      'agent_unreachable',
      'degraded',
      'upgrade_failed',
      false,
    ],
  ] as const)('%s', (_, change, phase, code, nodeState, incident, undone) => {
    expect(step(change)).toMatchObject({ status: 'failed', phase, reason: { code }, nodeState, incident, undone });
  });
});
