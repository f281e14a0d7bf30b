import { judgeAttemptStart } from '@hoodcloud/domain/attempt-start';
import { DomainError } from '@hoodcloud/domain/errors';
import { type Reason, reason, sentenceOf } from '@hoodcloud/domain/reasons';
import { maySwapByItself } from '@hoodcloud/domain/staging';
import { artifactFor, type TargetArtifact } from '@hoodcloud/domain/target-artifact';
import type { Database, Db } from '../db/database.ts';
import { json } from '../db/json.ts';
import { wakeRollout } from '../engine/engine-outbox.ts';
import type { AttemptRef, PreCheck } from '../workflows/activity-types.ts';
import { attemptIdOf } from './attempt-rows.ts';
import { databaseNow } from './database-clock.ts';
import { judgeTargets, type TargetSources } from './judge-targets.ts';
import { loadControls } from './load-rollout-snapshot.ts';
import { reserveStart } from './reserve-start.ts';
import { previousVersions, skipNode } from './resolve-targets.ts';
import { nodeFacts, rolloutFacts } from './rollout-facts.ts';
import { transitionRolloutNode } from './rollout-node-transition.ts';
import { lockRolloutNode, type RolloutNodeRow, type RolloutRow, shareRollout } from './rollout-row.ts';
import { targetArtifacts } from './target-artifacts.ts';

const ACTOR = 'system:rollout';

/** Reasons for which a node that was changed before is not tried again; the others are worth a try (C8, B5a). */
const HOPELESS: readonly Reason['code'][] = [
  'never_joined',
  'node_ineligible',
  'node_quarantined',
  'binary_missing',
  'no_artifact_for_platform',
  'internal_error',
];

/**
 * Spec `PreCheckNode`: begins attempt k exactly once, when the row waits for it and the node may still be changed (C13).
 * An attempt that runs already goes on; one that is not waited for ends its workflow at once.
 */
export async function preCheckNode(db: Database, sources: TargetSources, ref: AttemptRef): Promise<PreCheck> {
  try {
    return await db.transaction().execute((tx) => checkAndBegin(tx, sources, ref));
  } catch (error) {
    // Another rollout's attempt is under way on the node (C2a): this one is offered again later.
    if (isUniqueViolation(error, 'one_change_per_node')) return { kind: 'nothing_to_do' };
    throw error;
  }
}

async function checkAndBegin(tx: Db, sources: TargetSources, ref: AttemptRef): Promise<PreCheck> {
  const rollout = await shareRollout(tx, ref.rolloutId);
  const row = await lockRolloutNode(tx, ref);
  if (!rollout || !row) return { kind: 'nothing_to_do' };
  const controls = await loadControls(tx, ref.rolloutId);
  const start = judgeAttemptStart({
    rollout: rolloutFacts(rollout),
    controls,
    row: nodeFacts(row),
    attempt: ref.attempt,
    now: await databaseNow(tx),
  });
  const go: PreCheck = { kind: 'go', direction: row.attempt_direction, attemptId: attemptIdOf(ref) };
  if (start.kind === 'under_way') return go;
  if (start.kind === 'refused') return { kind: 'nothing_to_do' };
  const found = await whyNot(tx, sources, rollout, row);
  const held = found?.code === 'already_at_target' && maySwapByItself(row.stage_state) ? null : found;
  if (held && row.status === 'pending' && held.code !== 'internal_error') {
    await skipNode(tx, ref.rolloutId, ref.nodeId, held);
    await wakeRollout(tx, ref.rolloutId);
    return { kind: 'nothing_to_do' };
  }
  const hopeless = held !== null && HOPELESS.includes(held.code);
  if (!hopeless && !(await reserveStart(tx, sources.chains, row))) {
    await giveUpOffer(tx, ref);
    return { kind: 'nothing_to_do' };
  }
  await begin(tx, rollout, row, ref, whyBegun(row, controls));
  if (!hopeless) return go;
  const facts = { error_message: sentenceOf(held) };
  await transitionRolloutNode(tx, { ...ref, from: 'in_progress', to: 'failed', reason: held, actor: ACTOR, facts });
  await wakeRollout(tx, ref.rolloutId);
  return { kind: 'nothing_to_do' };
}

/** The row stays as it is; its rollout asks again at once, and is told what the node waits for. */
async function giveUpOffer(tx: Db, ref: AttemptRef): Promise<void> {
  await tx
    .updateTable('rollout_nodes')
    .set({ offered_at: null })
    .where('rollout_id', '=', ref.rolloutId)
    .where('node_id', '=', ref.nodeId)
    .execute();
  await wakeRollout(tx, ref.rolloutId);
}

/** Why the node may not be changed now, by the same rule that chose it. */
async function whyNot(
  tx: Db,
  sources: TargetSources,
  rollout: RolloutRow,
  row: RolloutNodeRow,
): Promise<Reason | null> {
  try {
    const judged = await judgeTargets(tx, sources, rollout, [row.node_id], await databaseNow(tx));
    const eligibility = judged.get(row.node_id);
    return eligibility?.kind === 'skipped' ? eligibility.reason : null;
  } catch (error) {
    // The node's configs can't be rendered: nobody left it out, it failed.
    if (error instanceof DomainError) return reason('internal_error', { error: error.message });
    throw error;
  }
}

function whyBegun(row: RolloutNodeRow, controls: Awaited<ReturnType<typeof loadControls>>): Reason {
  if (row.attempt_direction === 'rollback') {
    const order = controls.findLast(({ kind }) => kind === 'rollback');
    return reason('rollback_by_operator', { actor: order?.actor ?? ACTOR, why: order?.reason ?? 'no reason given' });
  }
  if (row.status === 'pending') return reason('batch_started', { batch: row.batch_index });
  const order = controls.findLast(({ kind, nodeId }) => kind === 'retry' && nodeId === row.node_id);
  return reason('retry_by_operator', { actor: order?.actor ?? ACTOR, attempt: row.requested_attempt });
}

async function begin(tx: Db, rollout: RolloutRow, row: RolloutNodeRow, ref: AttemptRef, why: Reason): Promise<void> {
  const upgrade = row.attempt_direction === 'upgrade';
  const artifact = upgrade ? await artifactOfNode(tx, rollout, row.node_id) : null;
  const before = artifact ? await versionToReturnTo(tx, rollout, row.node_id, artifact) : undefined;
  await transitionRolloutNode(tx, {
    ...ref,
    from: row.status,
    to: 'in_progress',
    phase: 'PREPARING',
    reason: why,
    actor: ACTOR,
    facts: {
      ...before,
      ...(artifact && { target_artifact: json(artifact) }),
      attempt_count: ref.attempt,
      requested_attempt: ref.attempt,
      left_stopped: false,
      downtime_ms: null,
      installed_checksum: null,
      running_checksum: null,
    },
  });
}

/** What the attempt installs: the artifact for the node's platform, kept in its row. Null: none, and a reason stands. */
async function artifactOfNode(tx: Db, rollout: RolloutRow, nodeId: string): Promise<TargetArtifact | null> {
  const { platform } = await tx
    .selectFrom('nodes')
    .select('platform')
    .where('id', '=', nodeId)
    .executeTakeFirstOrThrow();
  return artifactFor(targetArtifacts(rollout), platform);
}

/** What the node has at this moment, unless that is the target already (then the way back recorded before stands). */
async function versionToReturnTo(tx: Db, rollout: RolloutRow, nodeId: string, artifact: TargetArtifact) {
  const now = (await previousVersions(tx, rollout.binary_name, [nodeId])).get(nodeId);
  return now?.previous_checksum === artifact.checksum ? undefined : now;
}

/** Whether Postgres refused a second row of a unique index. */
function isUniqueViolation(error: unknown, constraint: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === '23505' &&
    'constraint' in error &&
    error.constraint === constraint
  );
}
