import { reason } from '@hoodcloud/domain/reasons';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type NewIncident, openIncident } from './open-incident.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

async function failedRollback(dedupeKey: string): Promise<NewIncident> {
  return {
    category: 'upgrade_failed',
    severity: 'critical',
    nodeId: await insertNode(database.db),
    rolloutId: null,
    dedupeKey,
    summary: 'The upgrade failed and could not be undone: log in and look.',
    reason: reason('failed_rollback', { error: 'disk full' }),
    actor: 'system:test',
  };
}

it('opens one incident per cause, however often it is told, with one event', async () => {
  const incident = await failedRollback('attempt-1');
  const ids = await Promise.all([1, 2, 3].map(() => openIncident(database.db, incident)));
  expect(new Set(ids).size).toBe(1);
  const events = await database.db
    .selectFrom('events')
    .select('kind')
    .where('subject_id', '=', ids[0] ?? '')
    .execute();
  expect(events).toEqual([{ kind: 'incident_opened' }]);
});

it('opens a new one when the same cause comes again after it was resolved', async () => {
  const incident = await failedRollback('attempt-2');
  const first = await openIncident(database.db, incident);
  await database.db.updateTable('incidents').set({ status: 'resolved' }).where('id', '=', first).execute();
  expect(await openIncident(database.db, incident)).not.toBe(first);
});
