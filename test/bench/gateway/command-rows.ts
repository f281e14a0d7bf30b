import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { Operation, UpgradePayloadSchema } from '@hoodcloud/contracts/wire/agent-v1';
import { encodeUpgradePayload } from '@hoodcloud/contracts/wire/upgrade-payload-codec';
import type { openDatabase, openPool } from '@hoodcloud/controlplane/db/database';
import { checksumOf, insertRollout } from '@hoodcloud/testkit/rows';

/** The control plane's database, both ways. */
export interface Rows {
  readonly db: ReturnType<typeof openDatabase>;
  readonly pool: ReturnType<typeof openPool>;
}

/** A node of a rollout that no engine watches. */
export interface RolloutNode {
  readonly nodeId: string;
  readonly rolloutId: string;
  readonly rolloutNodeId: string;
}

/** A rollout over these nodes, all of them waiting. */
export async function insertRolloutNodes({ db, pool }: Rows, nodeIds: readonly string[]): Promise<RolloutNode[]> {
  const rolloutId = await insertRollout(db, { status: 'completed' });
  const { rows } = await pool.query<RolloutNode>(
    `insert into rollout_nodes (rollout_id, node_id, batch_index)
     select $1, id, 0 from unnest($2::uuid[]) as n(id)
     returning id as "rolloutNodeId", node_id as "nodeId", rollout_id as "rolloutId"`,
    [rolloutId, nodeIds],
  );
  return rows;
}

/** Begins these nodes, which have ended what they were in before, and writes an UPGRADE for each. @returns the commands' ids, in their order, and when their statement began */
async function insertCommands(
  { pool }: Pick<Rows, 'pool'>,
  nodes: readonly RolloutNode[],
): Promise<{ ids: string[]; beganAt: number }> {
  const rows = nodes.map((node) => {
    const attemptId = `${node.rolloutId}.${node.nodeId}.1`;
    const wanted = { attemptId, operation: Operation.UPGRADE, artifact: { checksum: checksumOf('b') } };
    return {
      ...node,
      id: randomUUID(),
      attemptId,
      payload: encodeUpgradePayload(create(UpgradePayloadSchema, wanted)),
    };
  });
  const begun = rows.map(({ rolloutNodeId }) => rolloutNodeId);
  await pool.query(
    "update rollout_nodes set status = 'succeeded' where status = 'in_progress' and node_id = any($1::uuid[])",
    [nodes.map(({ nodeId }) => nodeId)],
  );
  await pool.query(
    "update rollout_nodes set status = 'in_progress', upgrade_phase = 'PREPARING' where id = any($1::uuid[])",
    [begun],
  );
  const column = (of: (row: (typeof rows)[number]) => unknown) => rows.map(of);
  const beganAt = Date.now();
  await pool.query(
    `insert into agent_commands (id, node_id, rollout_id, rollout_node_id, attempt_id, payload, operation, workflow_id, deadline_at)
     select *, 'UPGRADE', 'bench', now() + interval '10 minutes'
       from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::bytea[])`,
    [
      column(({ id }) => id),
      column(({ nodeId }) => nodeId),
      column(({ rolloutId }) => rolloutId),
      column(({ rolloutNodeId }) => rolloutNodeId),
      column(({ attemptId }) => attemptId),
      column(({ payload }) => payload),
    ],
  );
  return { ids: rows.map(({ id }) => id), beganAt };
}

/** Commands are written so many times a second. */
const BEATS = 20;

/**
 * Commands the nodes of the queue one after the other, at an even pace, until the signal aborts.
 * @throws when there are none left
 */
export async function writeCommands(
  rows: Rows,
  queue: RolloutNode[],
  options: {
    readonly perSecond: number;
    readonly signal: AbortSignal;
    /** When the statement of each began: the time until the row is there counts too. */
    readonly writtenAt: Map<string, number>;
  },
): Promise<void> {
  const began = performance.now();
  for (let beat = 1; !options.signal.aborted; beat += 1) {
    const due = queue.splice(0, options.perSecond / BEATS);
    if (due.length === 0) throw new Error('there are no nodes left to command');
    const { ids, beganAt } = await insertCommands(rows, due);
    for (const id of ids) options.writtenAt.set(id, beganAt);
    await sleep(Math.max(0, began + (beat * 1000) / BEATS - performance.now()));
  }
}
