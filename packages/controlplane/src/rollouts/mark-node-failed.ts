import type { ConfigDrift } from '@hoodcloud/contracts/wire/agent-v1';
import { type Reason, sentenceOf } from '@hoodcloud/domain/reasons';
import type { Database, Db } from '../db/database.ts';
import { json } from '../db/json.ts';
import { wakeRollout } from '../engine/engine-outbox.ts';
import { openIncident } from '../incidents/open-incident.ts';
import { leaveMaintenance } from '../nodes/node-transition.ts';
import type { AttemptRef } from '../workflows/activity-types.ts';
import { type AttemptEnd, type AttemptEvidence, type CommandEvidence, judgeAttemptEnd } from './attempt-end.ts';
import {
  type AgentCommandRow,
  attemptIdOf,
  findCommand,
  findValidation,
  resultOf,
  takeResults,
} from './attempt-rows.ts';
import { priorState } from './node-upgrade-steps.ts';
import { transitionRolloutNode } from './rollout-node-transition.ts';
import { lockRolloutNode, type RolloutNodeRow, type RolloutRow } from './rollout-row.ts';
import { wantedVersion } from './upgrade-command.ts';

const ACTOR = 'system:rollout';

/**
 * Spec `MarkNodeUpgradeFailed`: ends an attempt that did not succeed, as its rows say: status, phase, node state, what is
 * known to be on the node, and an incident where a person is needed, in one transaction with the wake-up of the rollout.
 * A second call finds the row ended and changes nothing.
 */
export async function markNodeUpgradeFailed(db: Database, ref: AttemptRef, error: string | undefined): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const row = await lockRolloutNode(tx, ref);
    if (row?.attempt_count !== ref.attempt) return;
    if (row.status !== 'in_progress' && row.status !== 'validating') return;
    await takeResults(tx, ref);
    const evidence = await loadEvidence(tx, ref, row, error ?? null);
    const end = judgeAttemptEnd(evidence);
    const rollout = await tx
      .selectFrom('rollouts')
      .selectAll()
      .where('id', '=', ref.rolloutId)
      .executeTakeFirstOrThrow();
    await transitionRolloutNode(tx, {
      ...ref,
      from: row.status,
      to: end.status,
      ...(end.phase && { phase: end.phase }),
      reason: end.reason,
      actor: ACTOR,
      facts: {
        error_message: sentenceOf(end.reason),
        error_code: await errorCode(tx, ref),
        log_tail: json(await failureLog(tx, ref)),
      },
    });
    await leaveMaintenance(tx, {
      nodeId: ref.nodeId,
      rolloutId: ref.rolloutId,
      reason: end.reason,
      actor: ACTOR,
      to: end.nodeState === 'prior' ? await priorState(tx, ref.nodeId) : end.nodeState,
    });
    if (end.undone && row.attempt_direction === 'upgrade') await recordPreviousVersion(tx, rollout, row);
    if (end.incident) await raiseIncident(tx, ref, rollout, end, end.incident);
    await wakeRollout(tx, ref.rolloutId);
  });
}

async function loadEvidence(
  tx: Db,
  ref: AttemptRef,
  row: RolloutNodeRow,
  controlPlaneError: string | null,
): Promise<AttemptEvidence> {
  const validation = await findValidation(tx, ref);
  const reasons = (validation?.reasons ?? []) as readonly Reason[];
  return {
    direction: row.attempt_direction,
    upgrade: commandEvidence(await findCommand(tx, ref, 'UPGRADE')),
    compensate: commandEvidence(await findCommand(tx, ref, 'COMPENSATE')),
    confirmation: commandEvidence(await findCommand(tx, ref, 'CONFIRM')),
    healthFailure: validation?.status === 'failed' ? reasons.map(sentenceOf).join(' ') : null,
    controlPlaneError,
  };
}

function commandEvidence(command: AgentCommandRow | null): CommandEvidence | null {
  if (!command) return null;
  const { errorMessage = '', steps = [] } = resultOf(command) ?? {};
  const begun = steps.map(({ actionName }) => actionName);
  return { status: command.status, outcome: command.outcome, error: errorMessage, begun };
}

/**
 * The last lines of the version that failed (A18): of the undo when there was one, else of the upgrade. When a local edit
 * stood in the way, what was edited, where the chain allows that to be shown (E4).
 */
async function failureLog(tx: Db, ref: AttemptRef): Promise<readonly string[]> {
  for (const operation of ['COMPENSATE', 'CONFIRM', 'UPGRADE'] as const) {
    const { logTail = [], configDrifts = [] } = resultOf(await findCommand(tx, ref, operation)) ?? {};
    const drift = configDrifts.filter(({ overwritten }) => !overwritten).flatMap(diffOf);
    const lines = [...drift, ...logTail];
    if (lines.length > 0) return lines;
  }
  return [];
}

/** What the agent says went wrong with the upgrade itself; null when it said nothing. */
async function errorCode(tx: Db, ref: AttemptRef): Promise<string | null> {
  const { errorCode: code = '' } = resultOf(await findCommand(tx, ref, 'UPGRADE')) ?? {};
  return code === '' ? null : code.slice(0, 60);
}

function diffOf({ path, diff }: ConfigDrift): string[] {
  return diff.length === 0 ? [] : [`--- ${path} as last written`, `+++ ${path} on the host`, ...diff];
}

/** After an undo the node has again what it had before. */
async function recordPreviousVersion(tx: Db, rollout: RolloutRow, row: RolloutNodeRow): Promise<void> {
  await tx
    .updateTable('node_config_state')
    .set({
      binary_version: row.previous_version,
      binary_url: row.previous_binary_url,
      binary_checksum: row.previous_checksum,
      artifact_member: row.previous_artifact_member,
      installed_checksum: row.previous_installed_checksum,
      config_hashes: json(row.previous_config_hashes),
      updated_at: new Date(),
    })
    .where('node_id', '=', row.node_id)
    .where('binary_name', '=', rollout.binary_name)
    .where('binary_checksum', '=', wantedVersion(rollout, row).checksum)
    .execute();
}

async function raiseIncident(
  tx: Db,
  ref: AttemptRef,
  rollout: RolloutRow,
  end: AttemptEnd,
  category: 'upgrade_failed' | 'upgrade_rollback_failed',
): Promise<void> {
  const { name } = await tx.selectFrom('nodes').select('name').where('id', '=', ref.nodeId).executeTakeFirstOrThrow();
  const what =
    category === 'upgrade_failed'
      ? `The upgrade of ${name} to ${rollout.target_version} failed and could not be undone`
      : `The rollback of ${name} from ${rollout.target_version} failed`;
  await openIncident(tx, {
    category,
    severity: 'critical',
    nodeId: ref.nodeId,
    rolloutId: ref.rolloutId,
    dedupeKey: attemptIdOf(ref),
    summary: `${what}. ${sentenceOf(end.reason)} Nothing further happens by itself: log in to the host and look.`,
    recoveryPlan: rollout.recovery_plan,
    reason: end.reason,
    actor: ACTOR,
  });
}
