import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UpgradePayload } from '@hoodcloud/contracts/wire/agent-v1';
import { decodeUpgradePayload } from '@hoodcloud/contracts/wire/upgrade-payload-codec';
import type { Database } from '@hoodcloud/controlplane/db/database';
import { json } from '@hoodcloud/controlplane/db/json';
import { activityHeartbeats } from '@hoodcloud/controlplane/engine/activity-heartbeats';
import { commandExpiry } from '@hoodcloud/controlplane/engine/command-expiry';
import { installEngineLogger } from '@hoodcloud/controlplane/engine/engine-logger';
import { completeActivity, startNodeUpgrade, wakeRollout } from '@hoodcloud/controlplane/engine/engine-outbox';
import { engineRelay } from '@hoodcloud/controlplane/engine/engine-relay';
import { type EngineWorker, startEngineWorker } from '@hoodcloud/controlplane/engine/engine-worker';
import { openEngineClient } from '@hoodcloud/controlplane/engine/temporal-connection';
import { loadWorkflowBundle } from '@hoodcloud/controlplane/engine/workflow-bundle';
import type { Logger } from '@hoodcloud/controlplane/feature';
import { ReconcilerRunner } from '@hoodcloud/controlplane/reconciler-runner';
import { groupActivities } from '@hoodcloud/controlplane/rollout-groups/group-activities';
import type { RenderedConfig } from '@hoodcloud/controlplane/rollouts/chain-facts';
import type { TargetSources } from '@hoodcloud/controlplane/rollouts/judge-targets';
import { nodeUpgradeActivities } from '@hoodcloud/controlplane/rollouts/node-upgrade-activities';
import { rolloutActivities } from '@hoodcloud/controlplane/rollouts/rollout-activities';
import { transitionRollout } from '@hoodcloud/controlplane/rollouts/rollout-transition';
import { stagingLoop } from '@hoodcloud/controlplane/staging/staging-loop';
import {
  type AgentOperation,
  isOfAttempt,
  type OperationOutcome,
  type StagingOperation,
} from '@hoodcloud/domain/agent-operation';
import { type Reason, reason } from '@hoodcloud/domain/reasons';
import type { RolloutControlKind } from '@hoodcloud/domain/rollout-control';
import type { Client } from '@temporalio/client';
import { sql } from 'kysely';
import { createMigratedDatabase, type MigratedDatabase } from './migrated-database.ts';
import { insertNode, insertRollout } from './rows.ts';
import { sharedTemporalAddress } from './temporal.ts';

/** What the scripted agent of a node answers to a command; `silent` leaves it open. */
export type ScriptedAnswer =
  | 'silent'
  | {
      readonly outcome: OperationOutcome;
      readonly error?: string;
      readonly leftStopped?: boolean;
      /** Actions the agent did, each in so many milliseconds. */
      readonly steps?: readonly { readonly name: string; readonly result: string; readonly durationMs: number }[];
    };

export interface LabCommand {
  readonly id: string;
  readonly nodeId: string;
  readonly operation: AgentOperation | StagingOperation;
  readonly payload: UpgradePayload;
}

export interface LabScript {
  /** Default: everything is completed. */
  agent?: (command: LabCommand) => ScriptedAnswer;
  /** Rendered configs of a node; throwing is a template that can't be rendered. Default: none. */
  configs?: (nodeId: string) => readonly RenderedConfig[];
  /** Reasons for which a proof of health fails; empty passes, null leaves it open. Default: passes. */
  health?: (nodeId: string) => readonly Reason[] | null;
}

export interface Scene {
  readonly rolloutId: string;
  readonly nodes: string[];
}

const SILENT_LOG = { info: () => undefined, warn: () => undefined, error: () => undefined };
const POLL_MS = 15;
const HEARTBEAT_MS = 5_000;

/**
 * Workflows, worker, relay and Postgres as in production, with agents and health proofs that a test scripts. What they
 * answer is written to the rows as the gateway and the health reconciler write it.
 */
export class RolloutLab {
  readonly database: MigratedDatabase;
  readonly client: Client;
  readonly taskQueue: string;
  /** host:port */
  readonly temporalAddress: string;
  script: LabScript = {};
  readonly commands: LabCommand[] = [];
  readonly #closeClient: () => Promise<void>;
  readonly #workers: EngineWorker[] = [];
  #runner: ReconcilerRunner | null = null;
  #polling = true;
  #polled: Promise<void> = Promise.resolve();
  #pollError: unknown = null;
  #heartbeatsAt = 0;

  readonly #log: Logger;

  private constructor(database: MigratedDatabase, taskQueue: string, temporalAddress: string, log: Logger) {
    this.#log = log;
    this.database = database;
    this.temporalAddress = temporalAddress;
    this.taskQueue = taskQueue;
    const engine = openEngineClient(this.#address());
    this.client = engine.client;
    this.#closeClient = engine.close;
  }

  /**
   * @param options.temporalAddress a server of the caller's own; the shared one when left out
   * @param options.log what worker and reconcilers write; nowhere when left out
   */
  static async open(options: { readonly temporalAddress?: string; readonly log?: Logger } = {}): Promise<RolloutLab> {
    const { log = SILENT_LOG } = options;
    installEngineLogger(log);
    const lab = new RolloutLab(
      await createMigratedDatabase(),
      `lab-${randomUUID()}`,
      options.temporalAddress ?? sharedTemporalAddress(),
      log,
    );
    await lab.startWorker();
    await lab.startReconcilers();
    lab.#polled = lab.#poll();
    return lab;
  }

  /** A chain of its own with healthy nodes, and a pending rollout for it. */
  async scene(size: number, rollout: Parameters<typeof insertRollout>[1] = {}): Promise<Scene> {
    const chain = `chain-${randomUUID().slice(0, 8)}`;
    const nodes = await Promise.all(
      Array.from({ length: size }, () => insertNode(this.db, { chain_profile_id: chain })),
    );
    const rolloutId = await insertRollout(this.db, { chain_profile_id: chain, ...rollout });
    return { rolloutId, nodes };
  }

  get db(): Database {
    return this.database.db;
  }

  /** The chain's files, as scripted. */
  sources(): TargetSources {
    return {
      chains: {
        maxBlockIntervalMs: async () => null,
        trustRules: async () => null,
        runtime: async () => null,
        heightMetric: async () => 'height',
        stableMs: async () => null,
      },
      renderConfigs: async (_: unknown, nodeIds: readonly string[]) =>
        new Map(nodeIds.map((nodeId) => [nodeId, this.script.configs?.(nodeId) ?? []])),
    };
  }

  /** @param buildId of a versioned worker; unversioned when left out */
  async startWorker(buildId: string | null = null): Promise<void> {
    const sources = this.sources();
    const worker = await startEngineWorker({
      ...this.#address(),
      bundle: await loadWorkflowBundle(join(tmpdir(), `hoodcloud-workflows-${process.getuid?.() ?? 0}`)),
      activities: {
        ...rolloutActivities(this.db, sources),
        ...groupActivities(this.db, sources),
        ...nodeUpgradeActivities(this.db, sources),
      },
      graceMs: 1000,
      buildId,
    });
    this.#workers.push(worker);
  }

  /** Stops every worker. */
  async stopWorker(): Promise<void> {
    await Promise.all(this.#workers.splice(0).map((worker) => worker.shutdown()));
  }

  async startReconcilers(): Promise<void> {
    this.#runner = new ReconcilerRunner({
      databaseUrl: this.database.url,
      log: this.#log,
      reconcilers: [
        engineRelay({ db: this.db, log: this.#log }, this.client, this.taskQueue),
        activityHeartbeats(this.db, this.client),
        commandExpiry(this.db),
        stagingLoop(this.db, this.sources(), this.#log),
      ],
    });
    await this.#runner.start();
  }

  async stopReconcilers(): Promise<void> {
    await this.#runner?.stop();
    this.#runner = null;
  }

  async close(): Promise<void> {
    this.#polling = false;
    await this.#polled;
    await this.stopReconcilers();
    await this.#terminateAll();
    await this.stopWorker();
    await this.#closeClient();
    await this.database.dispose();
    if (this.#pollError) throw this.#pollError;
  }

  /** Starts a rollout as the API does: control, status and wake-up in one transaction. */
  async start(rolloutId: string): Promise<void> {
    await this.db.transaction().execute(async (tx) => {
      await insertControl(tx, rolloutId, 'start');
      const why = reason('started_by_operator', { actor: ACTOR });
      await transitionRollout(tx, { rolloutId, from: 'pending', to: 'running', reason: why, actor: ACTOR });
      await wakeRollout(tx, rolloutId);
    });
  }

  /** Orders a control as the API does. */
  async order(
    rolloutId: string,
    kind: 'pause' | 'resume' | 'cancel' | 'force' | 'approve_canary' | 'rollback',
  ): Promise<void> {
    await this.db.transaction().execute(async (tx) => {
      await insertControl(tx, rolloutId, kind);
      await wakeRollout(tx, rolloutId, kind === 'rollback' ? 'wake' : kind);
    });
  }

  /** Orders another attempt on a node as the API does. */
  async retry(rolloutId: string, nodeId: string): Promise<void> {
    await this.db.transaction().execute(async (tx) => {
      await insertControl(tx, rolloutId, 'retry', nodeId);
      await tx
        .updateTable('rollout_nodes')
        .set({ requested_attempt: sql`attempt_count + 1`, offered_at: null })
        .where('rollout_id', '=', rolloutId)
        .where('node_id', '=', nodeId)
        .execute();
      await startNodeUpgrade(tx, rolloutId, nodeId);
      await wakeRollout(tx, rolloutId);
    });
  }

  rollout(rolloutId: string) {
    return this.db.selectFrom('rollouts').selectAll().where('id', '=', rolloutId).executeTakeFirstOrThrow();
  }

  rows(rolloutId: string) {
    return this.db
      .selectFrom('rollout_nodes')
      .selectAll()
      .where('rollout_id', '=', rolloutId)
      .orderBy('batch_index')
      .orderBy('node_id')
      .execute();
  }

  async row(rolloutId: string, nodeId: string) {
    const row = (await this.rows(rolloutId)).find((one) => one.node_id === nodeId);
    if (!row) throw new Error(`no row of node ${nodeId}`);
    return row;
  }

  nodeState(nodeId: string) {
    return this.db
      .selectFrom('nodes')
      .select(['state', 'prior_state', 'maintenance_owner'])
      .where('id', '=', nodeId)
      .executeTakeFirstOrThrow();
  }

  /** Commands of one operation that were sent in a rollout, in the order they were first seen. */
  commandsOf(rolloutId: string, operation: LabCommand['operation']): LabCommand[] {
    return this.commands.filter((one) => one.operation === operation && one.payload.attemptId.startsWith(rolloutId));
  }

  /** Waits until the rollout has one of the statuses. */
  async until(rolloutId: string, ...statuses: string[]) {
    return this.waitFor(`rollout ${statuses.join(' or ')}`, async () => {
      const rollout = await this.rollout(rolloutId);
      return statuses.includes(rollout.status) ? rollout : null;
    });
  }

  /** Waits for a condition; fails with what was waited for. */
  async waitFor<T>(
    what: string | (() => string),
    look: () => Promise<T | null | undefined | false>,
    withinMs = 60_000,
  ): Promise<T> {
    const end = Date.now() + withinMs;
    for (;;) {
      if (this.#pollError) throw this.#pollError;
      const found = await look();
      if (found) return found;
      if (Date.now() > end) {
        throw new Error(`waited ${withinMs} ms in vain for ${typeof what === 'string' ? what : what()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  #address() {
    return { address: this.temporalAddress, namespace: 'default', taskQueue: this.taskQueue };
  }

  async #poll(): Promise<void> {
    while (this.#polling) {
      try {
        await this.#keepOnline();
        await this.#answerCommands();
        await this.#judgeHealth();
      } catch (error) {
        this.#pollError = error;
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** Agents send heartbeats all the time; one that doesn't is left out as offline. */
  async #keepOnline(): Promise<void> {
    if (Date.now() - this.#heartbeatsAt < HEARTBEAT_MS) return;
    this.#heartbeatsAt = Date.now();
    await this.db.updateTable('nodes').set({ last_heartbeat_at: new Date() }).execute();
  }

  async #answerCommands(): Promise<void> {
    const open = await this.db
      .selectFrom('agent_commands')
      .select(['id', 'node_id', 'attempt_id', 'operation', 'payload', 'workflow_id', 'status'])
      .where('status', 'in', ['pending', 'delivered', 'acknowledged'])
      .orderBy('created_at')
      .execute();
    await Promise.all(
      open.map(async (row) => {
        const payload = decodeUpgradePayload(row.payload);
        const command: LabCommand = { id: row.id, nodeId: row.node_id, operation: row.operation, payload };
        if (!this.commands.some(({ id }) => id === row.id)) this.commands.push(command);
        const answer = this.script.agent?.(command) ?? { outcome: 'completed' };
        if (answer !== 'silent') await this.#writeResult(row, payload, answer);
      }),
    );
  }

  async #writeResult(
    row: { id: string; attempt_id: string; operation: LabCommand['operation']; workflow_id: string },
    payload: UpgradePayload,
    answer: Exclude<ScriptedAnswer, 'silent'>,
  ): Promise<void> {
    const checksum = payload.artifact?.checksum ?? '';
    // CommandResult of the wire as JSON, as the gateway stores it.
    const result = {
      command_id: row.id,
      attempt_id: row.attempt_id,
      operation: `OPERATION_${row.operation}`,
      outcome: `OUTCOME_${answer.outcome.toUpperCase()}`,
      error_message: answer.error ?? '',
      installed_checksum: checksum,
      running_checksum: answer.leftStopped ? '' : checksum,
      left_stopped: answer.leftStopped ?? false,
      log_tail: answer.error ? [answer.error] : [],
      downtime_ms: 42,
      steps: (answer.steps ?? []).map(({ name, result: became, durationMs }) => ({
        action_name: name,
        result: became,
        duration_ms: durationMs,
        error_message: '',
      })),
    };
    await this.db.transaction().execute(async (tx) => {
      await tx
        .updateTable('agent_commands')
        .set({
          status: answer.outcome === 'completed' ? 'completed' : 'failed',
          outcome: answer.outcome,
          result: json(result),
          acknowledged_at: sql<Date>`coalesce(acknowledged_at, created_at)`,
          ended_at: sql<Date>`clock_timestamp()`,
        })
        .where('id', '=', row.id)
        .execute();
      if (isOfAttempt(row.operation)) await completeActivity(tx, row.workflow_id, row.id);
    });
  }

  async #judgeHealth(): Promise<void> {
    const open = await this.db.selectFrom('health_validations').selectAll().where('status', '=', 'open').execute();
    for (const validation of open) {
      const reasons = this.script.health ? this.script.health(validation.node_id) : [];
      if (reasons === null) continue;
      await this.db.transaction().execute(async (tx) => {
        await tx
          .updateTable('health_validations')
          .set({
            status: reasons.length === 0 ? 'passed' : 'failed',
            reasons: json(reasons),
            ended_at: sql<Date>`clock_timestamp()`,
          })
          .where('id', '=', validation.id)
          .execute();
        await completeActivity(tx, validation.workflow_id, validation.id);
      });
    }
  }

  /** What is still open would wait for a worker that never comes back. */
  async #terminateAll(): Promise<void> {
    const open = this.client.workflow.list({
      query: `TaskQueue = '${this.taskQueue}' AND ExecutionStatus = 'Running'`,
    });
    for await (const { workflowId } of open) {
      await this.client.workflow
        .getHandle(workflowId)
        .terminate('the test is over')
        .catch((error: Error) => {
          if (error.name !== 'WorkflowNotFoundError') throw error; // it ended by itself
        });
    }
  }
}

const ACTOR = 'key:test';

async function insertControl(
  db: Parameters<typeof wakeRollout>[0],
  rolloutId: string,
  kind: RolloutControlKind,
  nodeId: string | null = null,
): Promise<void> {
  const failed = await db
    .selectFrom('rollout_nodes')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('rollout_id', '=', rolloutId)
    .where('status', 'in', ['failed', 'rolled_back'])
    .executeTakeFirstOrThrow();
  await db
    .insertInto('rollout_controls')
    .values({
      rollout_id: rolloutId,
      kind,
      node_id: nodeId,
      actor: ACTOR,
      reason: 'a test',
      failures_acknowledged: kind === 'resume' ? failed.count : null,
    })
    .execute();
}
