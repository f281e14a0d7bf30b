import type { HoldNodeRequest, NodeHoldView, PinNodeRequest } from '@hoodcloud/contracts/http/node-holds';
import { DomainError } from '@hoodcloud/domain/errors';
import type { NodeHold, NodePin } from '@hoodcloud/domain/node-hold';
import { type Selectable, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { NodeHoldsTable } from '../db/generated/tables.ts';
import { wakeRollout } from '../engine/engine-outbox.ts';
import { appendEvent } from '../events/append-event.ts';
import { timestamp, timestampOrNull } from '../http/timestamps.ts';

/** A pin names a component that the node does not have, or none of several, or nobody knows what runs. */
export class UnknownPinError extends DomainError {
  constructor(code: string, message: string) {
    super(code, message);
  }
}

/** Holds a node until a time; a second hold takes the place of the first. */
export async function holdNode(
  tx: Db,
  nodeId: string,
  { reason, expires_in_seconds }: HoldNodeRequest,
  actor: string,
): Promise<void> {
  const expiresAt = inSeconds(expires_in_seconds);
  await put(tx, {
    node_id: nodeId,
    kind: 'hold',
    binary_name: '',
    version: null,
    actor,
    reason,
    expires_at: expiresAt,
  });
  const data = { expires_at: timestamp(expiresAt), reason };
  await appendEvent(tx, { kind: 'node_held', subjectType: 'node', subjectId: nodeId, nodeId, actor, data });
  await wakeRolloutsOf(tx, nodeId);
}

/**
 * Pins a component to a version: the one that is known to run when none is given.
 * @throws UnknownPinError
 */
export async function pinNode(tx: Db, nodeId: string, request: PinNodeRequest, actor: string): Promise<void> {
  const { binary, version } = await pinned(tx, nodeId, request);
  const { reason, expires_in_seconds: seconds } = request;
  const expiresAt = seconds === undefined ? null : inSeconds(seconds);
  await put(tx, { node_id: nodeId, kind: 'pin', binary_name: binary, version, actor, reason, expires_at: expiresAt });
  const data = { binary_name: binary, version, expires_at: timestampOrNull(expiresAt), reason };
  await appendEvent(tx, { kind: 'node_pinned', subjectType: 'node', subjectId: nodeId, nodeId, actor, data });
}

/** Ends every hold and pin of a node; that there is none is no error. */
export async function releaseNode(tx: Db, nodeId: string, reason: string | undefined, actor: string): Promise<void> {
  const ended = await tx.deleteFrom('node_holds').where('node_id', '=', nodeId).returning('kind').execute();
  if (ended.length === 0) return;
  const data = { released: ended.map(({ kind }) => kind), reason: reason ?? null };
  await appendEvent(tx, { kind: 'node_released', subjectType: 'node', subjectId: nodeId, nodeId, actor, data });
  await wakeRolloutsOf(tx, nodeId);
}

async function pinned(
  tx: Db,
  nodeId: string,
  { binary_name, version }: PinNodeRequest,
): Promise<{ binary: string; version: string }> {
  const components = await tx
    .selectFrom('node_components as c')
    .leftJoin('node_config_state as s', (join) =>
      join.onRef('s.node_id', '=', 'c.node_id').onRef('s.binary_name', '=', 'c.binary_name'),
    )
    .select(['c.binary_name', 's.binary_version'])
    .where('c.node_id', '=', nodeId)
    .orderBy('c.binary_name')
    .execute();
  const names = components.map((one) => one.binary_name).join(', ') || 'none yet';
  const [only, another] = components;
  if (binary_name === undefined && another !== undefined) {
    throw new UnknownPinError('binary_needed', `Name the component with binary_name: the node has ${names}.`);
  }
  const component = binary_name === undefined ? only : components.find((one) => one.binary_name === binary_name);
  if (component === undefined) {
    throw new UnknownPinError('unknown_binary', `The node has no such component; it has ${names}.`);
  }
  const kept = version ?? component.binary_version;
  if (kept !== null) return { binary: component.binary_name, version: kept };
  const message = `Nobody has named what ${component.binary_name} runs here: give version, or name it first.`;
  throw new UnknownPinError('version_unknown', message);
}

async function put(tx: Db, row: Omit<Selectable<NodeHoldsTable>, 'created_at'>): Promise<void> {
  const { node_id, kind, binary_name, ...said } = row;
  await tx
    .insertInto('node_holds')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['node_id', 'kind', 'binary_name']).doUpdateSet({ ...said, created_at: sql<Date>`now()` }),
    )
    .execute();
}

/** Rollouts under way that wait for the node ask again at once. */
async function wakeRolloutsOf(tx: Db, nodeId: string): Promise<void> {
  const rows = await tx
    .selectFrom('rollout_nodes as n')
    .innerJoin('rollouts as r', 'r.id', 'n.rollout_id')
    .select('r.id')
    .where('n.node_id', '=', nodeId)
    .where('r.status', '=', 'running')
    .execute();
  for (const { id } of rows) await wakeRollout(tx, id);
}

function inSeconds(seconds: number): Date {
  return new Date(Date.now() + seconds * 1000);
}

/** Holds of nodes, expired or not, by node id. */
export async function loadHolds(db: Db, nodeIds: readonly string[]): Promise<Map<string, NodeHold>> {
  const rows = await rowsOf(db, nodeIds).where('kind', '=', 'hold').execute();
  return new Map(
    rows.flatMap(({ node_id, actor, reason, expires_at }) =>
      expires_at === null ? [] : [[node_id, { actor, reason, until: expires_at.getTime() }] as const],
    ),
  );
}

/** Pins of a component, expired or not, by node id. */
export async function loadPins(db: Db, binaryName: string, nodeIds: readonly string[]): Promise<Map<string, NodePin>> {
  const rows = await rowsOf(db, nodeIds).where('kind', '=', 'pin').where('binary_name', '=', binaryName).execute();
  return new Map(
    rows.flatMap(({ node_id, version, actor, reason, expires_at }) =>
      version === null ? [] : [[node_id, { version, actor, reason, until: expires_at?.getTime() ?? null }] as const],
    ),
  );
}

/** What stands at a moment, as people read it, by node id. */
export async function holdViews(db: Db, nodeIds: readonly string[], now: Date): Promise<Map<string, NodeHoldView[]>> {
  const rows = await rowsOf(db, nodeIds)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
    .orderBy('kind')
    .orderBy('binary_name')
    .execute();
  const views = new Map<string, NodeHoldView[]>();
  for (const row of rows) views.set(row.node_id, [...(views.get(row.node_id) ?? []), holdView(row)]);
  return views;
}

function rowsOf(db: Db, nodeIds: readonly string[]) {
  return db
    .selectFrom('node_holds')
    .selectAll()
    .where('node_id', '=', sql<string>`any(${[...nodeIds]}::uuid[])`);
}

function holdView(row: Selectable<NodeHoldsTable>): NodeHoldView {
  return {
    kind: row.kind,
    binary_name: row.binary_name === '' ? null : row.binary_name,
    version: row.version,
    actor: row.actor,
    reason: row.reason,
    created_at: timestamp(row.created_at),
    expires_at: timestampOrNull(row.expires_at),
  };
}
