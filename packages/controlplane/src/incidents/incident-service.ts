import type { Db } from '../db/database.ts';
import { appendEvent } from '../events/append-event.ts';

/**
 * A person has seen the incident. Said again it changes nothing.
 * @returns whether this call acknowledged it
 */
export async function acknowledgeIncident(db: Db, id: string, actor: string): Promise<boolean> {
  const row = await db
    .updateTable('incidents')
    .set({ status: 'acknowledged', acknowledged_at: new Date(), acknowledged_by: actor })
    .where('id', '=', id)
    .where('status', '=', 'open')
    .returning(['node_id', 'rollout_id'])
    .executeTakeFirst();
  if (!row) return false;
  await appendChange(db, 'incident_acknowledged', id, row, actor);
  return true;
}

/**
 * A person has settled the incident; the same cause may then open a new one. Said again it changes nothing.
 * @returns whether this call resolved it
 */
export async function resolveIncident(db: Db, id: string, actor: string): Promise<boolean> {
  const row = await db
    .updateTable('incidents')
    .set({ status: 'resolved', resolved_at: new Date(), resolved_by: actor })
    .where('id', '=', id)
    .where('status', '<>', 'resolved')
    .returning(['node_id', 'rollout_id'])
    .executeTakeFirst();
  if (!row) return false;
  await appendChange(db, 'incident_resolved', id, row, actor);
  return true;
}

async function appendChange(
  db: Db,
  kind: 'incident_acknowledged' | 'incident_resolved',
  subjectId: string,
  row: { node_id: string | null; rollout_id: string | null },
  actor: string,
): Promise<void> {
  const { node_id: nodeId, rollout_id: rolloutId } = row;
  await appendEvent(db, { kind, subjectType: 'incident', subjectId, nodeId, rolloutId, actor });
}
