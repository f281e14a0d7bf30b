import type { ComponentRolloutFacts, GateNodeFacts, GroupComponentFacts, GroupFacts } from '../group-snapshot.ts';
import { type Reason, reason, sentenceOf } from '../reasons.ts';
import type { RolloutGroupControl, RolloutGroupControlKind } from '../rollout-group-control.ts';
import type { WhyCase } from './why-case.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const [EXECUTION, COMPANION] = ['execution', 'companion'] as const;
/** The reason that a component's rollout stopped with. */
const STOPPED = sentenceOf(reason('canary_not_proven'));

function rolloutOf(now: number, over: Partial<ComponentRolloutFacts>): ComponentRolloutFacts {
  return {
    id: 'r0',
    status: 'running',
    why: STOPPED,
    statusChangedAt: now - 10 * SECOND,
    direction: 'upgrade',
    succeededNodes: 0,
    pauseOrderedAt: null,
    resumeOrdered: false,
    cancelOrdered: false,
    rollbackOrdered: false,
    newerRolloutId: null,
    ...over,
  };
}

interface Parts {
  readonly group?: Partial<GroupFacts>;
  readonly execution?: Partial<ComponentRolloutFacts>;
  readonly gate?: Partial<GateNodeFacts>;
  readonly order?: RolloutGroupControlKind;
}

/** A group whose first component has begun. */
const aGroup =
  ({ group, execution = {}, gate, order }: Parts) =>
  (now: number): WhyCase => {
    const node = { nodeId: 'a', online: true, lastHeartbeatAt: now, quarantined: false, leftStopped: false };
    const gateNodes = gate ? [{ ...node, state: 'healthy' as const, runsTarget: true, ...gate }] : [];
    const components: GroupComponentFacts[] = [
      { index: 0, binaryName: EXECUTION, rollout: rolloutOf(now, execution), gateNodes },
      { index: 1, binaryName: COMPANION, rollout: null, gateNodes: [] },
    ];
    const controls: RolloutGroupControl[] = order
      ? [
          {
            id: 'c1',
            kind: order,
            actor: 'ann',
            reason: 'because',
            createdAt: now,
            componentIndex: order === 'skip' ? 0 : null,
          },
        ]
      : [];
    const facts: GroupFacts = {
      id: 'g1',
      status: 'running',
      statusReason: null,
      statusChangedAt: now - MINUTE,
      direction: 'upgrade',
      rollbackBeganAt: null,
      failurePolicy: 'manual',
      gateTimeoutMs: 30 * MINUTE,
      ...group,
    };
    return { kind: 'group', snapshot: { group: facts, components, controls } };
  };

const over = (status: GroupFacts['status'], statusReason: Reason) =>
  aGroup({ group: { status, statusReason }, execution: { status: 'completed' } });

/** For tests: cases of a group. */
export const GROUP_CASES = {
  component_running: aGroup({}),
  component_gate: aGroup({ execution: { status: 'completed' }, gate: { state: 'degraded' } }),
  component_unhealthy: aGroup({
    group: { gateTimeoutMs: SECOND },
    execution: { status: 'completed' },
    gate: { state: 'degraded' },
  }),
  component_failed: aGroup({ execution: { status: 'failed' } }),
  component_paused: aGroup({ execution: { status: 'paused' } }),
  component_pausing: aGroup({ order: 'pause' }),
  component_resuming: aGroup({ execution: { status: 'paused' }, order: 'resume' }),
  component_canceling: aGroup({ order: 'cancel' }),
  component_skipping: aGroup({ order: 'skip' }),
  component_rolling_back: aGroup({
    group: { direction: 'rollback', statusReason: reason('rollback_by_operator', { actor: 'ann', why: 'because' }) },
    execution: { status: 'completed', succeededNodes: 1 },
  }),
  all_components_ended: over('completed', reason('all_components_ended', { completed: 2, of: 2, skipped: 0 })),
  all_components_skipped: over('canceled', reason('all_components_skipped')),
  group_rolled_back: over('rolled_back', reason('group_rolled_back', { why: 'Rollback ordered by ann: because' })),
  group_rollback_incomplete: over('failed', reason('group_rollback_incomplete', { binary: EXECUTION, why: STOPPED })),
} as const satisfies Readonly<Record<string, (now: number) => WhyCase>>;
