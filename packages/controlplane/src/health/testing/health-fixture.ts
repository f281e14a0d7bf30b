import { randomUUID } from 'node:crypto';
import { create, type MessageInitShape, toJson } from '@bufbuild/protobuf';
import { chainHealthSchema } from '@hoodcloud/contracts/files/chain-profile';
import { type ComponentReportSchema, ComponentReportSchema as Report } from '@hoodcloud/contracts/wire/agent-v1';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { checksumOf, insertNode, insertRollout, insertRolloutNode, type NodeRow } from '@hoodcloud/testkit/rows';
import type { Database } from '../../db/database.ts';
import { json } from '../../db/json.ts';
import type { ChainHealth } from '../chain-health.ts';
import type { Judgement } from '../chain-judge.ts';

export const OLD = checksumOf('a');
export const NEW = checksumOf('b');

/** A chain's health rules as its profile would have them. */
export function chainHealth(overrides: Partial<ChainHealth> = {}): ChainHealth {
  const rules = {
    healthy_expression: 'metrics.height > 0',
    synced_expression: 'metrics.catching_up == 0',
    height_metric: 'height',
    max_block_interval_seconds: 20,
  };
  return chainHealthSchema.parse({ ...rules, ...overrides });
}

export interface Beat {
  /** Seconds after the fixture's zero. */
  readonly at: number;
  readonly sessionId?: string;
  readonly component?: MessageInitShape<typeof ComponentReportSchema>;
  readonly judged?: Partial<Judgement>;
}

/** Nodes, heartbeats and validations at times that the test says; zero is a fixed moment. */
export class HealthFixture {
  readonly zero = new Date('2026-01-01T00:00:00Z');
  readonly database: MigratedDatabase;
  readonly logLines: string[] = [];

  private constructor(database: MigratedDatabase) {
    this.database = database;
  }

  static async create(): Promise<HealthFixture> {
    return new HealthFixture(await createMigratedDatabase());
  }

  get db(): Database {
    return this.database.db;
  }

  get services() {
    const line = (_: object, message: string) => void this.logLines.push(message);
    return { db: this.db, log: { info: line, warn: line, error: line } };
  }

  /** The moment so many seconds after zero. */
  at(seconds: number): Date {
    return new Date(this.zero.getTime() + seconds * 1000);
  }

  /** A node with an open session. */
  async node(row: NodeRow = {}): Promise<{ nodeId: string; sessionId: string }> {
    const nodeId = await insertNode(this.db, { last_heartbeat_at: null, ...row });
    return { nodeId, sessionId: await this.session(nodeId) };
  }

  /** Opens a session of the node, ending the one before. */
  async session(nodeId: string): Promise<string> {
    const end = { ended_at: this.zero };
    await this.db
      .updateTable('agent_sessions')
      .set(end)
      .where('node_id', '=', nodeId)
      .where('ended_at', 'is', null)
      .execute();
    const id = randomUUID();
    const names = { gateway_id: 'g', instance_nonce: 'n', boot_id: 'b', agent_version: '1', hostname: 'h' };
    await this.db
      .insertInto('agent_sessions')
      .values({ id, node_id: nodeId, ...names, os: 'linux', arch: 'amd64' })
      .execute();
    return id;
  }

  async beat(node: { nodeId: string; sessionId: string }, beat: Beat): Promise<void> {
    const component = create(Report, {
      binaryName: 'cometbft',
      active: true,
      mainPid: 100,
      mainPidStartedAt: 1n,
      runningChecksum: NEW,
      ...beat.component,
    });
    const judged = { application_health: 'ok', sync_status: 'synced', height: 10, ready: null, ...beat.judged };
    await this.db
      .insertInto('node_heartbeats')
      .values({
        node_id: node.nodeId,
        session_id: beat.sessionId ?? node.sessionId,
        received_at: this.at(beat.at),
        components: json([toJson(Report, component, { useProtoFieldName: true, alwaysEmitImplicit: true })]),
        judged: json(judged),
      })
      .execute();
  }

  /** Heartbeats every five seconds, from one moment to another, both included. */
  async beats(
    node: { nodeId: string; sessionId: string },
    from: number,
    to: number,
    each: (at: number) => Omit<Beat, 'at'> = () => ({}),
  ): Promise<void> {
    for (let at = from; at <= to; at += 5) await this.beat(node, { at, ...each(at) });
  }

  /** An open proof of health that counts from zero and waits 30 s. */
  async validation(nodeId: string): Promise<string> {
    const rolloutId = await insertRollout(this.db, { status: 'completed' });
    const rolloutNodeId = await insertRolloutNode(this.db, rolloutId, nodeId, { status: 'validating' });
    const { id } = await this.db
      .insertInto('health_validations')
      .values({
        node_id: nodeId,
        rollout_id: rolloutId,
        rollout_node_id: rolloutNodeId,
        attempt_id: `${rolloutId}.${nodeId}.1`,
        binary_name: 'cometbft',
        expected_checksum: NEW,
        health_wait_ms: 30_000,
        workflow_id: `upgrade-${rolloutId}-${nodeId}`,
        since: this.zero,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    return id;
  }

  /** The completed command of a validation's attempt, with some fields of its result. */
  async resultOf(validationId: string, result: Readonly<Record<string, unknown>>): Promise<void> {
    const { node_id, rollout_id, rollout_node_id, attempt_id, workflow_id } = await this.validationRow(validationId);
    await this.db
      .insertInto('agent_commands')
      .values({
        node_id,
        rollout_id,
        rollout_node_id,
        attempt_id,
        workflow_id,
        operation: 'UPGRADE',
        payload: Buffer.of(),
        status: 'completed',
        outcome: 'completed',
        result: JSON.stringify(result),
        deadline_at: this.at(600),
        ended_at: this.zero,
      })
      .execute();
  }

  async validationRow(id: string) {
    const row = await this.db
      .selectFrom('health_validations')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return { ...row, codes: (row.reasons as { code: string }[]).map((one) => one.code) };
  }

  async nodeRow(id: string) {
    return this.db.selectFrom('nodes').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  }

  /** Sets the best height of `testchain` and when it grew. */
  async chainHeight(bestHeight: number, grewAt: number): Promise<void> {
    const row = { chain_profile_id: 'testchain', best_height: bestHeight, grew_at: this.at(grewAt) };
    await this.db
      .insertInto('chain_heights')
      .values(row)
      .onConflict((conflict) => conflict.column('chain_profile_id').doUpdateSet(row))
      .execute();
  }

  dispose(): Promise<void> {
    return this.database.dispose();
  }
}
