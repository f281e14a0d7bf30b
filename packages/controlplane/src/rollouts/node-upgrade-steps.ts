import type { ConfigDrift } from '@hoodcloud/contracts/wire/agent-v1';
import type { AgentOperation } from '@hoodcloud/domain/agent-operation';
import { DomainError } from '@hoodcloud/domain/errors';
import type { NodeState } from '@hoodcloud/domain/node-state';
import type { NodeUpgradeStatus } from '@hoodcloud/domain/node-upgrade-status';
import { type ReasonCode, reason } from '@hoodcloud/domain/reasons';
import { confirmationRunsSteps } from '@hoodcloud/domain/vendor-hook';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { json } from '../db/json.ts';
import { type PayloadCipher, PLAIN_PAYLOADS } from '../db/payload-cipher.ts';
import { wakeRollout } from '../engine/engine-outbox.ts';
import { appendEvent } from '../events/append-event.ts';
import { enterMaintenance, leaveMaintenance } from '../nodes/node-transition.ts';
import type { AttemptRef, NextProof, SentCommand } from '../workflows/activity-types.ts';
import { nodeWorkflowId } from '../workflows/workflow-ids.ts';
import {
  type AgentCommandRow,
  attemptIdOf,
  findCommand,
  findValidation,
  resultOf,
  takeResults,
} from './attempt-rows.ts';
import type { ChainFiles, RenderConfigs } from './chain-facts.ts';
import { databaseNow } from './database-clock.ts';
import { type CommandConfig, configsToRestore } from './rollback-configs.ts';
import { storedHooks } from './rollout-hooks.ts';
import { transitionRolloutNode } from './rollout-node-transition.ts';
import { lockRolloutNode, type RolloutNodeRow, type RolloutRow } from './rollout-row.ts';
import { commandBudgetMs, upgradePayload, wantedVersion } from './upgrade-command.ts';

const ACTOR = 'system:rollout';
/** The engine waits so much longer than the row's own deadline, so that the row always decides first (B5). */
const ROW_DECIDES_MARGIN_MS = 300_000;
/** Spec: 30 s; longer when thousands are in flight, since each heartbeat is a write in the engine (B4a). */
const HEARTBEAT_TIMEOUT_MS = 30_000;
const HEARTBEATS_PER_SECOND = 50;

const BEGUN: readonly NodeUpgradeStatus[] = ['in_progress', 'validating', 'succeeded', 'failed', 'rolled_back'];

/** The attempt that an activity is about is not the one under way. */
export class AttemptNotUnderWayError extends DomainError {
  constructor(ref: AttemptRef) {
    super('attempt_not_under_way', `Attempt ${ref.attempt} on node ${ref.nodeId} is not under way.`, { ...ref });
  }
}

/** The node went into somebody else's hands between the pre-check and now. */
export class NodeNotAvailableError extends DomainError {
  constructor(nodeId: string) {
    super('node_not_available', `Node ${nodeId} is in somebody else's maintenance or is being terminated.`, { nodeId });
  }
}

export interface NodeStepSources {
  readonly chains: ChainFiles;
  readonly renderConfigs: RenderConfigs;
  /** Seals what agents are sent (C12); stored as it is when left out. */
  readonly payloads?: PayloadCipher;
}

interface Attempt {
  readonly rollout: RolloutRow;
  readonly row: RolloutNodeRow;
}

/**
 * Locks the row of an attempt that is under way or has ended with nothing after it: its steps are run again when the
 * worker was killed before the engine had heard of them (C13).
 * @throws AttemptNotUnderWayError
 */
async function latestAttempt(tx: Db, ref: AttemptRef): Promise<Attempt> {
  const row = await lockRolloutNode(tx, ref);
  if (row?.attempt_count !== ref.attempt || !BEGUN.includes(row.status)) throw new AttemptNotUnderWayError(ref);
  const rollout = await tx.selectFrom('rollouts').selectAll().where('id', '=', ref.rolloutId).executeTakeFirstOrThrow();
  return { rollout, row };
}

function hasEnded({ row }: Attempt): boolean {
  return row.status !== 'in_progress' && row.status !== 'validating';
}

/** Why an attempt that ends well ends well. */
function proofOf(rollout: Pick<RolloutRow, 'skip_validation'>, row: Pick<RolloutNodeRow, 'left_stopped'>): ReasonCode {
  if (row.left_stopped) return 'left_stopped';
  return rollout.skip_validation ? 'validation_skipped' : 'health_passed';
}

/**
 * Spec `UpdateNodeState`: maintenance with owner and prior state (D5), and out of it again. Said twice it changes nothing.
 * @throws NodeNotAvailableError when somebody else took the node since it was checked
 */
export async function updateNodeState(
  db: Database,
  ref: AttemptRef,
  to: 'maintenance' | 'syncing' | 'prior',
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const attempt = await latestAttempt(tx, ref);
    if (hasEnded(attempt)) return;
    const { rollout, row } = attempt;
    const change = { nodeId: ref.nodeId, rolloutId: ref.rolloutId, actor: ACTOR };
    if (to === 'maintenance') {
      const why = reason('batch_started', { batch: row.batch_index });
      const taken = await enterMaintenance(tx, { ...change, reason: why });
      // Once the agent was commanded the attempt goes on: only its result says what is on the host.
      if (!taken && !(await findCommand(tx, ref, 'UPGRADE'))) throw new NodeNotAvailableError(ref.nodeId);
      return;
    }
    const state = to === 'prior' ? await priorState(tx, ref.nodeId) : to;
    await leaveMaintenance(tx, { ...change, reason: reason(proofOf(rollout, row)), to: state });
  });
}

/** State of a node before its maintenance. `syncing` for one whose state is not one to go back to. */
export async function priorState(db: Db, nodeId: string): Promise<NodeState> {
  const node = await db.selectFrom('nodes').select('prior_state').where('id', '=', nodeId).executeTakeFirstOrThrow();
  const back: readonly NodeState[] = ['syncing', 'healthy', 'degraded', 'down'];
  return back.find((state) => state === node.prior_state) ?? 'syncing';
}

/** Spec `SendUpgradeCommand`: writes the command once per attempt and operation; the insert notifies the gateways (B1). */
export async function sendUpgradeCommand(
  db: Database,
  sources: NodeStepSources,
  ref: AttemptRef,
  operation: AgentOperation,
): Promise<SentCommand> {
  return db.transaction().execute(async (tx) => {
    const attempt = await latestAttempt(tx, ref);
    const sent = await findCommand(tx, ref, operation);
    if (!sent && hasEnded(attempt)) throw new AttemptNotUnderWayError(ref);
    const command = sent ?? (await writeCommand(tx, sources, ref, operation, attempt));
    const now = await databaseNow(tx);
    return {
      commandId: command.id,
      scheduleToCloseMs: Math.max(command.deadline_at.getTime() - now, 0) + ROW_DECIDES_MARGIN_MS,
      heartbeatTimeoutMs: await heartbeatTimeoutMs(tx),
      ...(isAwaited(operation, attempt) && { isAwaited: true }),
    };
  });
}

/** Nobody waits for a confirmation but where it runs steps of the vendor, which only go with a way to a new version. */
function isAwaited(operation: AgentOperation, { rollout, row }: Attempt): boolean {
  return operation === 'CONFIRM' && row.attempt_direction === 'upgrade' && confirmationRunsSteps(storedHooks(rollout));
}

async function writeCommand(
  tx: Db,
  sources: NodeStepSources,
  ref: AttemptRef,
  operation: AgentOperation,
  { rollout, row }: Attempt,
): Promise<AgentCommandRow> {
  const runtime = await sources.chains.runtime(rollout.chain_profile_id);
  const payload = upgradePayload({
    attemptId: attemptIdOf(ref),
    operation,
    rollout,
    row,
    runtime,
    stableMs: await sources.chains.stableMs(rollout.chain_profile_id),
    configs: operation === 'UPGRADE' ? await configsFor(tx, sources, ref, { rollout, row }) : [],
    lastWritten: await lastWrittenChecksums(tx, ref.nodeId, rollout.binary_name),
  });
  const now = await databaseNow(tx);
  const command = await tx
    .insertInto('agent_commands')
    .values({
      node_id: ref.nodeId,
      rollout_id: ref.rolloutId,
      rollout_node_id: row.id,
      attempt_id: attemptIdOf(ref),
      operation,
      payload: (sources.payloads ?? PLAIN_PAYLOADS).seal(payload),
      workflow_id: nodeWorkflowId(ref.rolloutId, ref.nodeId),
      deadline_at: new Date(now + commandBudgetMs(operation, runtime, storedHooks(rollout))),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  if (operation === 'COMPENSATE') await showRollingBack(tx, ref, row);
  return command;
}

/** What an upgrade writes, or a rollback puts back. Undo and confirmation go by what the host recorded. */
async function configsFor(
  tx: Db,
  sources: NodeStepSources,
  ref: AttemptRef,
  { rollout, row }: Attempt,
): Promise<CommandConfig[]> {
  if (row.attempt_direction === 'rollback') return configsToRestore(tx, sources.payloads ?? PLAIN_PAYLOADS, row);
  const rendered = (await sources.renderConfigs(rollout, [ref.nodeId])).get(ref.nodeId) ?? [];
  return rendered.map(({ path, content }) => ({ path, content }));
}

/** By path: what was last written there by us, as `sha256:<hex>` (E4). */
export async function lastWrittenChecksums(
  db: Db,
  nodeId: string,
  binaryName: string,
): Promise<Record<string, string>> {
  const state = await db
    .selectFrom('node_config_state')
    .select('config_hashes')
    .where('node_id', '=', nodeId)
    .where('binary_name', '=', binaryName)
    .executeTakeFirst();
  return (state?.config_hashes ?? {}) as Record<string, string>;
}

async function showRollingBack(tx: Db, ref: AttemptRef, row: RolloutNodeRow): Promise<void> {
  await tx
    .updateTable('rollout_nodes')
    .set({ upgrade_phase: 'ROLLBACKING', phase_changed_at: sql<Date>`clock_timestamp()`, updated_at: sql<Date>`now()` })
    .where('id', '=', row.id)
    .execute();
  await appendEvent(tx, {
    kind: 'node_upgrade_phase_changed',
    subjectType: 'node',
    subjectId: ref.nodeId,
    rolloutId: ref.rolloutId,
    nodeId: ref.nodeId,
    actor: ACTOR,
    data: { from: row.upgrade_phase, to: 'ROLLBACKING', phase: 'ROLLBACKING' },
  });
}

async function heartbeatTimeoutMs(db: Db): Promise<number> {
  const { open } = await db
    .selectFrom('agent_commands')
    .select((eb) => eb.fn.countAll<number>().as('open'))
    .where('status', 'in', ['pending', 'delivered', 'acknowledged'])
    .executeTakeFirstOrThrow();
  return Math.max(HEARTBEAT_TIMEOUT_MS, Math.ceil((open / HEARTBEATS_PER_SECOND) * 3) * 1000);
}

/**
 * Spec `UpdateNodeBinaryVersion`: records what the agent proved to be on the host and opens the proof of health, unless
 * it is skipped. A second call changes nothing and answers the same.
 */
export async function updateNodeBinaryVersion(db: Database, ref: AttemptRef): Promise<NextProof> {
  return db.transaction().execute(async (tx) => {
    const { rollout, row } = await latestAttempt(tx, ref);
    const command = await findCommand(tx, ref, 'UPGRADE');
    const result = resultOf(command);
    if (!command?.ended_at || !result) throw new AttemptNotUnderWayError(ref);
    await takeResults(tx, ref);
    if (row.status === 'in_progress') {
      await recordVersion(tx, ref, { rollout, row }, result.installedChecksum, result.configChecksums);
      await tellOverwritten(tx, ref, result.configDrifts);
      await transitionRolloutNode(tx, {
        ...ref,
        from: 'in_progress',
        to: 'validating',
        phase: 'VERIFYING',
        reason: reason('agent_completed', { version: wantedVersion(rollout, row).version }),
        actor: 'system:agent',
        facts: {
          installed_checksum: result.installedChecksum || null,
          running_checksum: result.runningChecksum || null,
          left_stopped: result.leftStopped,
          downtime_ms: result.downtimeMs,
        },
      });
    }
    if (result.leftStopped) return { kind: 'skip', why: 'left_stopped' };
    if (rollout.skip_validation) return { kind: 'skip', why: 'skip_validation' };
    return openValidation(tx, ref, { rollout, row }, result.installedChecksum, command.ended_at);
  });
}

/** Local edits that the upgrade went over by policy are never lost without a word (E4, field-case 53). */
async function tellOverwritten(tx: Db, ref: AttemptRef, drifts: readonly ConfigDrift[]): Promise<void> {
  for (const { path, places } of drifts.filter(({ overwritten }) => overwritten)) {
    await appendEvent(tx, {
      kind: 'config_drift_overwritten',
      subjectType: 'node',
      subjectId: ref.nodeId,
      rolloutId: ref.rolloutId,
      nodeId: ref.nodeId,
      actor: 'system:agent',
      data: { path, places, attempt_id: attemptIdOf(ref) },
    });
  }
}

async function recordVersion(
  tx: Db,
  ref: AttemptRef,
  { rollout, row }: Attempt,
  installedChecksum: string,
  configChecksums: Readonly<Record<string, string>>,
): Promise<void> {
  const wanted = wantedVersion(rollout, row);
  const state = {
    binary_version: wanted.version,
    binary_url: wanted.url || null,
    binary_checksum: wanted.checksum,
    artifact_member: wanted.member,
    installed_checksum: installedChecksum || null,
    version_source: 'rollout' as const,
    updated_at: new Date(),
  };
  await tx
    .insertInto('node_config_state')
    .values({ node_id: ref.nodeId, binary_name: rollout.binary_name, ...state, config_hashes: json(configChecksums) })
    .onConflict((conflict) =>
      conflict.columns(['node_id', 'binary_name']).doUpdateSet({
        ...state,
        config_hashes: sql`node_config_state.config_hashes || ${JSON.stringify(configChecksums)}::jsonb`,
      }),
    )
    .execute();
}

/** Heartbeats count only after the moment the command's result was written (D1). */
async function openValidation(
  tx: Db,
  ref: AttemptRef,
  { rollout, row }: Attempt,
  installedChecksum: string,
  since: Date,
): Promise<NextProof> {
  const opened =
    (await findValidation(tx, ref)) ??
    (await tx
      .insertInto('health_validations')
      .values({
        node_id: ref.nodeId,
        rollout_id: ref.rolloutId,
        rollout_node_id: row.id,
        attempt_id: attemptIdOf(ref),
        binary_name: rollout.binary_name,
        expected_checksum: installedChecksum,
        health_wait_ms: rollout.health_wait_ms,
        workflow_id: nodeWorkflowId(ref.rolloutId, ref.nodeId),
        since,
      })
      .returningAll()
      .executeTakeFirstOrThrow());
  return {
    kind: 'validate',
    validationId: opened.id,
    scheduleToCloseMs: rollout.health_wait_ms + ROW_DECIDES_MARGIN_MS,
  };
}

/** Spec `MarkNodeUpgradeSucceeded`; for a rollback the row becomes `rolled_back` (C10a). Wakes the rollout. */
export async function markNodeUpgradeSucceeded(db: Database, ref: AttemptRef): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const row = await lockRolloutNode(tx, ref);
    if (row?.attempt_count !== ref.attempt || row.status !== 'validating') return;
    await takeResults(tx, ref);
    const rollout = await tx
      .selectFrom('rollouts')
      .select('skip_validation')
      .where('id', '=', ref.rolloutId)
      .executeTakeFirstOrThrow();
    const upgraded = row.attempt_direction === 'upgrade';
    await transitionRolloutNode(tx, {
      ...ref,
      from: 'validating',
      to: upgraded ? 'succeeded' : 'rolled_back',
      phase: 'COMPLETED',
      reason: reason(proofOf(rollout, row)),
      actor: ACTOR,
      ...(upgraded && row.started_at && { facts: { duration_ms: (await databaseNow(tx)) - row.started_at.getTime() } }),
    });
    await wakeRollout(tx, ref.rolloutId);
  });
}
