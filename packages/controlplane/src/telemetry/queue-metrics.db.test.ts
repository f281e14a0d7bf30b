import { reason } from '@hoodcloud/domain/reasons';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode, insertRollout } from '@hoodcloud/testkit/rows';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { wakeRollout } from '../engine/engine-outbox.ts';
import { openIncident } from '../incidents/open-incident.ts';
import { queueMetrics } from './queue-metrics.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

it('shows what waits in each queue and for how long, and the incidents that are open', async () => {
  const { db } = database;
  const registry = new Registry();
  const look = async () => {
    await queueMetrics(db, registry).run(new Date());
    const told = await registry.metrics();
    registry.clear();
    return told;
  };
  expect(await look()).toContain('hoodcloud_queue_messages{queue="engine_messages"} 0');

  const rolloutId = await insertRollout(db);
  await wakeRollout(db, rolloutId);
  await db
    .updateTable('engine_messages')
    .set({ created_at: new Date(Date.now() - 90_000) })
    .execute();
  await openIncident(db, {
    category: 'upgrade_failed',
    severity: 'critical',
    nodeId: await insertNode(db),
    rolloutId,
    dedupeKey: 'one',
    summary: 'It could not be undone.',
    reason: reason('failed_rollback', { error: 'it is gone' }),
    actor: 'system:test',
  });
  const told = await look();
  expect(told).toContain('hoodcloud_queue_messages{queue="engine_messages"} 1');
  expect(told).toMatch(/hoodcloud_queue_oldest_seconds\{queue="engine_messages"\} 9\d/);
  expect(told).toContain('hoodcloud_incidents_open{category="upgrade_failed",severity="critical"} 1');
});
