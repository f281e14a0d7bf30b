import { reason } from '@hoodcloud/domain/reasons';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { publishEvents } from '../events/event-relay.ts';
import { rolloutMetrics } from './rollout-metrics.ts';
import { transitionRolloutNode } from './rollout-node-transition.ts';
import { transitionRollout } from './rollout-transition.ts';

const why = { reason: reason('health_passed'), actor: 'system:test' } as const;

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

it('counts ends of rollouts and nodes once, and shows what is active (spec, Prometheus Metrics)', async () => {
  const { db } = database;
  const registry = new Registry();
  const metrics = rolloutMetrics(db, registry);
  const count = async () => {
    await publishEvents(db);
    await metrics.run(new Date());
    return registry.metrics();
  };
  const rolloutId = await insertRollout(db, {
    status: 'running',
    started_at: new Date(Date.now() - 40_000),
    total_nodes: 2,
    pending_nodes: 1,
  });
  const nodeId = await insertNode(db);
  await insertRolloutNode(db, rolloutId, nodeId, {
    status: 'validating',
    upgrade_phase: 'VERIFYING',
    started_at: new Date(Date.now() - 8000),
  });
  const before = await count();
  expect(before).toContain('hoodcloud_rollout_active{chain="testchain"} 1');
  expect(before).toContain(`hoodcloud_rollout_progress{chain="testchain",rollout_id="${rolloutId}"} 0.5`);
  expect(before).toContain(
    `hoodcloud_rollout_node_phase{chain="testchain",rollout_id="${rolloutId}",phase="VERIFYING"} 1`,
  );

  await transitionRolloutNode(db, { ...why, rolloutId, nodeId, from: 'validating', to: 'succeeded' });
  await transitionRollout(db, { ...why, rolloutId, from: 'running', to: 'completed' });
  await count();
  const after = await count();
  expect(after).toContain('hoodcloud_rollout_total{chain="testchain",strategy="rolling",status="completed"} 1');
  expect(after).toContain('hoodcloud_rollout_node_upgrades_total{chain="testchain",status="succeeded"} 1');
  expect(after).toMatch(/hoodcloud_rollout_duration_seconds_bucket\{le="60",chain="testchain",.*\} 1/);
  expect(after).toMatch(/hoodcloud_rollout_node_upgrade_duration_seconds_bucket\{le="15",.*\} 1/);
  expect(after).not.toContain('hoodcloud_rollout_active{');
});

it('counts nothing that happened before it began to count', async () => {
  const registry = new Registry();
  await rolloutMetrics(database.db, registry).run(new Date());
  expect(await registry.metrics()).not.toContain('hoodcloud_rollout_total{');
});
