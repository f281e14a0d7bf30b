import { randomUUID } from 'node:crypto';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Operation, UpgradePayloadSchema } from '@hoodcloud/contracts/wire/agent-v1';
import { encodeUpgradePayload } from '@hoodcloud/contracts/wire/upgrade-payload-codec';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode, insertRollout, insertRolloutNode, type NodeRow } from '@hoodcloud/testkit/rows';
import type { Database } from '../../db/database.ts';
import { Notifications } from '../../db/notifications.ts';
import { newAgentCredential } from '../agent-secret.ts';
import { type Gateway, type GatewayOptions, startGateway } from '../gateway.ts';
import { WireAgent } from './wire-agent.ts';

/** A log that keeps its lines for tests to look at. */
export function keepLog() {
  const lines: { level: string; message: string; fields: object }[] = [];
  const at = (level: string) => (fields: object, message: string) => void lines.push({ level, message, fields });
  return { lines, log: { info: at('info'), warn: at('warn'), error: at('error') } };
}

/** A database with any number of gateways on it, each with connections of its own as separate processes have. */
export class GatewayFixture {
  readonly database: MigratedDatabase;
  readonly log = keepLog();
  readonly #stops: (() => Promise<void>)[] = [];
  readonly #agents: WireAgent[] = [];

  private constructor(database: MigratedDatabase) {
    this.database = database;
  }

  static async create(): Promise<GatewayFixture> {
    return new GatewayFixture(await createMigratedDatabase());
  }

  /** Gateways on a database of the caller's, which outlives them. */
  static over(database: MigratedDatabase): GatewayFixture {
    return new GatewayFixture({ ...database, dispose: async () => undefined });
  }

  get db(): Database {
    return this.database.db;
  }

  async gateway(options: Partial<GatewayOptions> = {}): Promise<Gateway> {
    const notifications = await Notifications.open(this.database.url, () => undefined);
    const gateway = await startGateway({
      db: this.db,
      log: this.log.log,
      notifications,
      chainHealth: () => Promise.resolve(null),
      listen: '127.0.0.1:0',
      tls: null,
      ...options,
    });
    let stopping: Promise<void> | null = null;
    const stop = () => {
      stopping ??= gateway.stop().finally(() => notifications.close());
      return stopping;
    };
    this.#stops.push(stop);
    return { ...gateway, stop };
  }

  /** A joined node and its credential. */
  async joinedNode(row: NodeRow = {}): Promise<{ nodeId: string; credential: string }> {
    const nodeId = await insertNode(this.db, row);
    const { secret, hash } = newAgentCredential();
    await this.db.insertInto('agent_credentials').values({ node_id: nodeId, secret_hash: hash }).execute();
    return { nodeId, credential: secret };
  }

  /** An agent that is cut off when the test ends. */
  async agent(...args: Parameters<typeof WireAgent.connect>): Promise<WireAgent> {
    const agent = await WireAgent.connect(...args);
    this.#agents.push(agent);
    return agent;
  }

  /** A rollout's node in progress and its open command. */
  async command(
    nodeId: string,
    options: {
      payload?: MessageInitShape<typeof UpgradePayloadSchema>;
      operation?: 'UPGRADE' | 'COMPENSATE' | 'CONFIRM';
      deadlineInMs?: number;
      /** For a COMPENSATE or a CONFIRM of an earlier attempt. */
      attemptId?: string;
    } = {},
  ): Promise<{ commandId: string; attemptId: string; rolloutId: string; rolloutNodeId: string }> {
    const operation = options.operation ?? 'UPGRADE';
    const rolloutId = await insertRollout(this.db, { status: 'completed' });
    const status = { status: 'in_progress', upgrade_phase: 'PREPARING' } as const;
    const rolloutNodeId = await insertRolloutNode(this.db, rolloutId, nodeId, status);
    const attemptId = options.attemptId ?? `${rolloutId}.${nodeId}.1`;
    const payload = create(UpgradePayloadSchema, { attemptId, operation: Operation[operation], ...options.payload });
    const commandId = randomUUID();
    await this.db
      .insertInto('agent_commands')
      .values({
        id: commandId,
        node_id: nodeId,
        rollout_id: rolloutId,
        rollout_node_id: rolloutNodeId,
        attempt_id: attemptId,
        operation,
        payload: encodeUpgradePayload(payload),
        workflow_id: `upgrade-${rolloutId}-${nodeId}`,
        deadline_at: new Date(Date.now() + (options.deadlineInMs ?? 600_000)),
      })
      .execute();
    return { commandId, attemptId, rolloutId, rolloutNodeId };
  }

  /** The row of a command. */
  commandRow(commandId: string) {
    return this.db.selectFrom('agent_commands').selectAll().where('id', '=', commandId).executeTakeFirstOrThrow();
  }

  async dispose(): Promise<void> {
    for (const agent of this.#agents) agent.close();
    await Promise.all(this.#stops.map((stop) => stop()));
    await this.database.dispose();
  }
}
