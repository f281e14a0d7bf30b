import type { EventKind } from '@hoodcloud/contracts/events/event-kinds';
import { isEndedNode, NODE_UPGRADE_TRANSITIONS, type NodeUpgradeStatus } from '@hoodcloud/domain/node-upgrade-status';
import type { Reason } from '@hoodcloud/domain/reasons';
import { assertTransition } from '@hoodcloud/domain/transition';
import type { UpgradePhase } from '@hoodcloud/domain/upgrade-phase';
import { sql, type Updateable } from 'kysely';
import type { Db } from '../db/database.ts';
import type { RolloutNodesTable } from '../db/generated/tables.ts';
import { json } from '../db/json.ts';
import { appendEvent } from '../events/append-event.ts';

export interface RolloutNodeTransition {
  readonly rolloutId: string;
  readonly nodeId: string;
  readonly from: NodeUpgradeStatus;
  readonly to: NodeUpgradeStatus;
  readonly phase?: UpgradePhase;
  readonly reason: Reason;
  readonly actor: string;
  /** What else is known at this moment: versions, checksums, error, times. */
  readonly facts?: Omit<
    Updateable<RolloutNodesTable>,
    'status' | 'status_reason' | 'status_reason_params' | 'upgrade_phase'
  >;
}

/**
 * The one writer of `rollout_nodes.status` (C11): checks the edge, writes where the status is still `from`, appends the event.
 * @returns false when somebody else moved it first; nothing is written then
 * @throws IllegalTransitionError; a unique violation of `one_change_per_node` when another attempt is under way (C2a)
 */
export async function transitionRolloutNode(db: Db, change: RolloutNodeTransition): Promise<boolean> {
  assertTransition('node upgrade', NODE_UPGRADE_TRANSITIONS, change.from, change.to);
  // The database's clock: rules compare these times with those of controls, which it stamps.
  const now = sql<Date>`clock_timestamp()`;
  const row = await db
    .updateTable('rollout_nodes')
    .set({
      ...change.facts,
      status: change.to,
      status_reason: change.reason.code,
      status_reason_params: json(change.reason.params),
      ...(change.phase && { upgrade_phase: change.phase, phase_changed_at: now }),
      ...(change.to === 'in_progress' && {
        started_at: now,
        ended_at: null,
        offered_at: null,
        error_message: null,
        error_code: null,
      }),
      ...(isEndedNode(change.to) && { ended_at: now }),
      ...outcomeOfUpgrade(change.to),
      updated_at: now,
    })
    .where('rollout_id', '=', change.rolloutId)
    .where('node_id', '=', change.nodeId)
    .where('status', '=', change.from)
    .returning(['attempt_count', 'attempt_direction'])
    .executeTakeFirst();
  if (!row) return false;
  await appendEvent(db, {
    kind: eventKind(change.to),
    subjectType: 'node',
    subjectId: change.nodeId,
    rolloutId: change.rolloutId,
    nodeId: change.nodeId,
    reason: change.reason,
    actor: change.actor,
    data: {
      from: change.from,
      to: change.to,
      phase: change.phase ?? null,
      attempt: row.attempt_count,
      direction: row.attempt_direction,
    },
  });
  return true;
}

/**
 * What a later rollout to the same version asks: how the upgrade ended. A way back, and a node that was left out, tell
 * nothing of it.
 */
function outcomeOfUpgrade(to: NodeUpgradeStatus) {
  if (!isEndedNode(to) || to === 'skipped') return {};
  const outcome = to === 'succeeded' ? 'succeeded' : 'failed';
  return {
    upgrade_outcome: sql<
      typeof outcome
    >`case attempt_direction when 'upgrade' then ${outcome} else upgrade_outcome end`,
    upgrade_outcome_at: sql<Date>`case attempt_direction when 'upgrade' then clock_timestamp() else upgrade_outcome_at end`,
  };
}

function eventKind(to: NodeUpgradeStatus): EventKind {
  if (to === 'in_progress') return 'node_upgrade_started';
  if (to === 'skipped') return 'node_upgrade_skipped';
  return to === 'validating' ? 'node_upgrade_phase_changed' : 'node_upgrade_completed';
}
