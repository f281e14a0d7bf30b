import type { Db } from '../db/database.ts';
import { appendEvent } from '../events/append-event.ts';

/** Who settles what, and why. */
export interface IncidentOrder {
  readonly id: string;
  readonly actor: string;
  readonly reason?: string | undefined;
}

/**
 * A person has seen the incident. Said again it changes nothing.
 * @returns whether this call acknowledged it
 */
export async function acknowledgeIncident(db: Db, order: IncidentOrder): Promise<boolean> {
  const row = await db
    .updateTable('incidents')
    .set({ status: 'acknowledged', acknowledged_at: new Date(), acknowledged_by: order.actor })
    .where('id', '=', order.id)
    .where('status', '=', 'open')
    .returning(['node_id', 'rollout_id'])
    .executeTakeFirst();
  if (!row) return false;
  await appendChange(db, 'incident_acknowledged', row, order);
  return true;
}

/**
 * A person has settled the incident; the same cause may then open a new one. Said again it changes nothing.
 * @returns whether this call resolved it
 */
export async function resolveIncident(db: Db, order: IncidentOrder): Promise<boolean> {
  const row = await db
    .updateTable('incidents')
    .set({ status: 'resolved', resolved_at: new Date(), resolved_by: order.actor })
    .where('id', '=', order.id)
    .where('status', '<>', 'resolved')
    .returning(['node_id', 'rollout_id'])
    .executeTakeFirst();
  if (!row) return false;
  await appendChange(db, 'incident_resolved', row, order);
  return true;
}

async function appendChange(
  db: Db,
  kind: 'incident_acknowledged' | 'incident_resolved',
  row: { node_id: string | null; rollout_id: string | null },
  { id, actor, reason }: IncidentOrder,
): Promise<void> {
  const { node_id: nodeId, rollout_id: rolloutId } = row;
  const data = { reason: reason ?? null };
  await appendEvent(db, { kind, subjectType: 'incident', subjectId: id, nodeId, rolloutId, actor, data });
}
