import { controlFacts, controlVerdict } from '@hoodcloud/domain/control-verdict';
import { reason } from '@hoodcloud/domain/reasons';
import type { RolloutControlKind } from '@hoodcloud/domain/rollout-control';
import { isFailure } from '@hoodcloud/domain/rollout-rows';
import type { RolloutSnapshot } from '@hoodcloud/domain/rollout-snapshot';
import { startApprovalDue } from '@hoodcloud/domain/start-gates/trust';
import { isSamePerson } from '../auth/same-person.ts';
import type { Db } from '../db/database.ts';
import { type RolloutSignal, startNodeUpgrade, wakeRollout } from '../engine/engine-outbox.ts';
import { appendEvent } from '../events/append-event.ts';
import { databaseNow } from './database-clock.ts';
import type { TargetSources } from './judge-targets.ts';
import { DECISION, loadRolloutSnapshot } from './load-rollout-snapshot.ts';
import { newerRolloutOf, newerRolloutOfNode } from './newer-rollouts.ts';
import type { RolloutSources } from './prepare-rollout.ts';
import { skipNode } from './resolve-targets.ts';
import { ControlRefusedError } from './rollout-errors.ts';
import { lockRollout, lockRolloutNode, type RolloutRow } from './rollout-row.ts';
import { transitionRollout } from './rollout-transition.ts';
import { refuseWithoutTargets } from './start-targets.ts';

export interface ControlOrder {
  readonly rolloutId: string;
  readonly kind: RolloutControlKind;
  /** For `retry` and `skip`. */
  readonly nodeId?: string;
  readonly actor: string;
  readonly reason?: string | undefined;
}

/** A control that a group orders of one of its components. */
export interface GroupOrder {
  readonly rolloutId: string;
  readonly kind: 'pause' | 'resume' | 'cancel' | 'rollback';
  readonly actor: string;
  readonly reason: string;
}

/**
 * Takes a group's control: `decideGroup` has judged it, so no verdict is asked. Stored and told like a person's (C6).
 */
export async function orderForGroup(tx: Db, sources: Pick<TargetSources, 'chains'>, order: GroupOrder): Promise<void> {
  const snapshot = await loadRolloutSnapshot(tx, order.rolloutId, sources.chains, new Date(), DECISION);
  if (!snapshot) throw new Error(`rollout ${order.rolloutId} vanished from its group`);
  await storeControl(tx, order, snapshot);
  await wakeRollout(tx, order.rolloutId, SIGNALS[order.kind]);
}

/** What the workflow is told; `wake` where the specification has no signal of its own. */
const SIGNALS: Readonly<Record<RolloutControlKind, RolloutSignal>> = {
  start: 'wake',
  pause: 'pause',
  resume: 'resume',
  cancel: 'cancel',
  force: 'force',
  approve_canary: 'approve_canary',
  rollback: 'wake',
  retry: 'wake',
  skip: 'wake',
};

/**
 * Takes a person's control: judged against the rows as they are, then stored with what follows at once and the engine's
 * message, all in the caller's transaction (B4, C6). What follows later the workflow finds in the rows.
 * @throws ControlRefusedError when it is not legal now, NoEligibleNodesError for a start that could do nothing
 */
export async function orderControl(tx: Db, sources: RolloutSources, order: ControlOrder): Promise<void> {
  const rollout = await lockRollout(tx, order.rolloutId);
  const now = await databaseNow(tx);
  const snapshot = await loadRolloutSnapshot(tx, rollout.id, sources.targets.chains, new Date(now), DECISION);
  if (!snapshot) throw new Error(`rollout ${rollout.id} vanished while its row was locked`);
  const newer = {
    rollout: await newerRolloutOf(tx, rollout.id),
    node: order.nodeId ? await newerRolloutOfNode(tx, rollout.id, order.nodeId) : null,
  };
  const verdict = controlVerdict(order.kind, controlFacts(snapshot, newer, order.nodeId ?? null));
  if (!verdict.legal) throw new ControlRefusedError(order.kind, verdict);
  if (order.kind === 'approve_canary') {
    const needed = rollout.two_person_approval || startApprovalDue(snapshot);
    if (needed) await refuseSamePerson(tx, rollout, order.actor);
  }
  if (order.kind === 'start') await refuseWithoutTargets(tx, sources.targets, rollout, now);
  await storeControl(tx, order, snapshot);
  await applyAtOnce(tx, order, rollout);
  await wakeRollout(tx, rollout.id, SIGNALS[order.kind]);
}

/** Two persons, where the chain wants them: who created the rollout does not approve it. */
async function refuseSamePerson(tx: Db, rollout: RolloutRow, actor: string): Promise<void> {
  const { created_by: creator } = rollout;
  if (!(await isSamePerson(tx, creator, actor))) return;
  const message = `Two persons are needed: ${creator} created the rollout, and ${actor} is no second person. Somebody else must approve it.`;
  throw new ControlRefusedError('approve_canary', { code: 'second_person_needed', message });
}

async function storeControl(tx: Db, order: ControlOrder, snapshot: RolloutSnapshot): Promise<void> {
  await tx
    .insertInto('rollout_controls')
    .values({
      rollout_id: order.rolloutId,
      kind: order.kind,
      node_id: order.nodeId ?? null,
      actor: order.actor,
      reason: order.reason ?? null,
      failures_acknowledged: order.kind === 'resume' ? snapshot.nodes.filter(isFailure).length : null,
    })
    .execute();
  await appendEvent(tx, {
    kind: 'rollout_control_ordered',
    subjectType: 'rollout',
    subjectId: order.rolloutId,
    rolloutId: order.rolloutId,
    nodeId: order.nodeId ?? null,
    actor: order.actor,
    data: { control: order.kind, reason: order.reason ?? null },
  });
}

/** What a control changes in rows by itself; the others only make the workflow ask. */
async function applyAtOnce(tx: Db, order: ControlOrder, rollout: RolloutRow): Promise<void> {
  const { actor, nodeId } = order;
  if (order.kind === 'start') {
    const why = reason('started_by_operator', { actor });
    await transitionRollout(tx, { rolloutId: rollout.id, from: 'pending', to: 'running', reason: why, actor });
  } else if (order.kind === 'skip' && nodeId) {
    const why = reason('skipped_by_operator', { actor, why: order.reason ?? 'no reason given' });
    await skipNode(tx, rollout.id, nodeId, why, actor);
  } else if (order.kind === 'retry' && nodeId) {
    await requestRetry(tx, rollout, nodeId);
  }
}

/** Wants the node's next attempt, in the direction the rollout goes; its workflow is started even when the rollout ended (C8). */
async function requestRetry(tx: Db, rollout: RolloutRow, nodeId: string): Promise<void> {
  const row = await lockRolloutNode(tx, { rolloutId: rollout.id, nodeId });
  if (!row) throw new Error(`node ${nodeId} vanished from rollout ${rollout.id}`);
  await tx
    .updateTable('rollout_nodes')
    .set({
      requested_attempt: row.attempt_count + 1,
      attempt_direction: rollout.direction,
      offered_at: null,
      updated_at: new Date(),
    })
    .where('id', '=', row.id)
    .execute();
  await startNodeUpgrade(tx, rollout.id, nodeId);
}
