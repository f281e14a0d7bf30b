import { attemptId } from '@hoodcloud/domain/agent-operation';
import { asksForApproval } from '@hoodcloud/domain/approval-reasons';
import { decideNext } from '@hoodcloud/domain/decide-next';
import { looksForLateNodes } from '@hoodcloud/domain/late-nodes';
import { type Reason, reason } from '@hoodcloud/domain/reasons';
import type { RolloutDecision } from '@hoodcloud/domain/rollout-decision';
import type { RolloutSnapshot } from '@hoodcloud/domain/rollout-snapshot';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { json } from '../db/json.ts';
import { appendEvent } from '../events/append-event.ts';
import type { ControlByHand, RolloutAnswer } from '../workflows/activity-types.ts';
import type { ChainFiles } from './chain-facts.ts';
import { storeControlsByHand } from './controls-by-hand.ts';
import { databaseNow } from './database-clock.ts';
import { DECISION, loadRolloutSnapshot } from './load-rollout-snapshot.ts';
import { nameNodesOf } from './name-nodes.ts';
import { pickUpLateNodes } from './pick-up-late-nodes.ts';
import { recountRollout } from './recount-rollout.ts';
import { lockRollout, type RolloutRow } from './rollout-row.ts';
import { transitionRollout } from './rollout-transition.ts';

/**
 * Spec `UpdateRolloutProgress`, the one question of the workflow (C7a): recounts the rows, takes a snapshot, asks
 * `decideNext`, writes what follows for the rollout's row and answers what the workflow must do. Asked again after a
 * crash it finds its own writes and answers the same.
 */
export async function updateRolloutProgress(
  db: Database,
  chains: ChainFiles,
  rolloutId: string,
  controlsByHand: readonly ControlByHand[],
): Promise<RolloutAnswer> {
  return db.transaction().execute(async (tx) => {
    const locked = await lockRollout(tx, rolloutId);
    await storeControlsByHand(tx, locked, controlsByHand);
    const now = await databaseNow(tx);
    let rollout = await recountRollout(tx, locked);
    let snapshot = await snapshotOf(tx, rolloutId, chains, now);
    let decided = decideNext(snapshot, now);
    if (looksForLateNodes(snapshot.rollout, decided) && (await pickUpLateNodes(tx, rollout, now)) > 0) {
      rollout = await recountRollout(tx, rollout);
      snapshot = await snapshotOf(tx, rolloutId, chains, now);
      decided = decideNext(snapshot, now);
    }
    const decision = await nameNodesOf(tx, decided);
    await applyStatus(tx, rollout, decision, snapshot);
    await tellApprovalIsDue(tx, rollout, decision);
    await rememberDecision(tx, rollout.id, decision, now);
    return answerOf(rollout, decision, now);
  });
}

async function snapshotOf(tx: Db, rolloutId: string, chains: ChainFiles, now: number): Promise<RolloutSnapshot> {
  const snapshot = await loadRolloutSnapshot(tx, rolloutId, chains, new Date(now), DECISION);
  if (!snapshot) throw new Error(`rollout ${rolloutId} vanished while its row was locked`);
  return snapshot;
}

/** Writes the status that the decision names, when the row has another one. Ends are written by `FinalizeRollout`. */
async function applyStatus(db: Db, rollout: RolloutRow, decision: RolloutDecision, snapshot: RolloutSnapshot) {
  if (decision.kind === 'finish' || decision.kind === 'roll_back' || decision.status === rollout.status) return;
  const why = decision.kind === 'pause' ? decision.reason : reasonToRun(rollout, snapshot);
  await transitionRollout(db, {
    rolloutId: rollout.id,
    from: rollout.status,
    to: decision.status,
    reason: why,
    actor: actorOf(why),
  });
}

/** Who made a pending or paused rollout run: the newest control that can. */
export function reasonToRun(rollout: Pick<RolloutRow, 'status'>, snapshot: Pick<RolloutSnapshot, 'controls'>): Reason {
  const kinds = rollout.status === 'pending' ? ['start'] : ['resume', 'force'];
  const control = snapshot.controls.findLast(({ kind }) => kinds.includes(kind));
  const code = rollout.status === 'pending' ? 'started_by_operator' : 'resumed_by_operator';
  return reason(code, { actor: control?.actor ?? 'system:rollout' });
}

/** The person that a reason names; the rollout itself otherwise. */
export function actorOf({ code, params }: Reason): string {
  return code.endsWith('_by_operator') && typeof params.actor === 'string' ? params.actor : 'system:rollout';
}

/** Tells once that an approval is due, not at every question (field-case 112: nobody knew that they were waited for). */
async function tellApprovalIsDue(db: Db, rollout: RolloutRow, decision: RolloutDecision): Promise<void> {
  if (decision.kind !== 'wait') return;
  const due = decision.reasons.find(({ code }) => asksForApproval(code));
  const before = rollout.last_decision as { readonly reasons?: readonly Reason[] } | null;
  if (!due || before?.reasons?.some(({ code }) => code === due.code)) return;
  await appendEvent(db, {
    kind: 'rollout_waiting_for_approval',
    subjectType: 'rollout',
    subjectId: rollout.id,
    rolloutId: rollout.id,
    reason: due,
    actor: 'system:rollout',
  });
}

async function rememberDecision(db: Db, rolloutId: string, decision: RolloutDecision, now: number): Promise<void> {
  const reasons = 'reasons' in decision ? decision.reasons : [decision.reason];
  const until = decision.kind === 'wait' && decision.until !== null ? new Date(decision.until).toISOString() : null;
  await db
    .updateTable('rollouts')
    .set({ last_decision: json({ kind: decision.kind, until, reasons }), updated_at: new Date(now) })
    .where('id', '=', rolloutId)
    .execute();
  if (decision.kind !== 'run') return;
  await db
    .updateTable('rollout_nodes')
    .set({ offered_at: new Date(now) })
    .where('rollout_id', '=', rolloutId)
    .where('node_id', '=', sql<string>`any(${decision.nodes.map((node) => node.nodeId)}::uuid[])`)
    .execute();
}

function answerOf(rollout: RolloutRow, decision: RolloutDecision, now: number): RolloutAnswer {
  const gatherMs = gatherTimeMs(rollout.total_nodes);
  switch (decision.kind) {
    case 'run': {
      const nodes = decision.nodes.map((node) => ({
        ...node,
        attemptId: attemptId(rollout.id, node.nodeId, node.attempt),
      }));
      return { kind: 'run', nodes };
    }
    case 'wait':
      if (decision.reasons.some(({ code }) => code === 'targets_unresolved')) return { kind: 'resolve_targets' };
      return { kind: 'wait', forMs: decision.until === null ? null : Math.max(0, decision.until - now), gatherMs };
    case 'pause':
      return { kind: 'wait', forMs: null, gatherMs };
    default:
      return decision;
  }
}

/** A question reads every row of the rollout, so large rollouts ask less often: at most every 2 s for 10,000 nodes. */
function gatherTimeMs(nodes: number): number {
  return nodes < 50 ? 0 : Math.min(2_000, Math.ceil(nodes / 5));
}
