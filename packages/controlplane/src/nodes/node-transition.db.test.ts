import { NODE_STATE_TRANSITIONS } from '@hoodcloud/domain/node-state';
import { reason } from '@hoodcloud/domain/reasons';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enterMaintenance, leaveMaintenance, transitionNode } from './node-transition.ts';

const MINE = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';
const why = { reason: reason('batch_started', { batch: 0 }), actor: 'system:test' } as const;

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

function maintenanceOf(nodeId: string) {
  return database.db
    .selectFrom('nodes')
    .select(['state', 'prior_state', 'maintenance_owner'])
    .where('id', '=', nodeId)
    .executeTakeFirstOrThrow();
}

function eventsOf(nodeId: string) {
  return database.db
    .selectFrom('events')
    .select(['kind', 'data'])
    .where('node_id', '=', nodeId)
    .orderBy('id')
    .execute();
}

describe('transitionNode', () => {
  it('writes the state and its event together', async () => {
    const nodeId = await insertNode(database.db);
    const change = {
      nodeId,
      from: 'healthy',
      to: 'degraded',
      reason: reason('application_critical'),
      actor: 'system:test',
    } as const;
    expect(await transitionNode(database.db, change)).toBe(true);
    expect(await eventsOf(nodeId)).toEqual([{ kind: 'node_state_changed', data: { from: 'healthy', to: 'degraded' } }]);
  });

  it('writes nothing when the node is in another state by now', async () => {
    const nodeId = await insertNode(database.db, { state: 'down' });
    expect(await transitionNode(database.db, { ...why, nodeId, from: 'healthy', to: 'degraded' })).toBe(false);
    expect(await eventsOf(nodeId)).toEqual([]);
  });

  it('refuses an edge that the table does not have', async () => {
    const nodeId = await insertNode(database.db);
    await expect(
      transitionNode(database.db, { ...why, nodeId, from: 'healthy', to: 'terminated' }),
    ).rejects.toMatchObject({
      code: 'illegal_transition',
    });
    expect(NODE_STATE_TRANSITIONS.healthy).not.toContain('terminated');
  });
});

describe('maintenance (D5)', () => {
  it('keeps the prior state and the owner, and gives both back', async () => {
    const nodeId = await insertNode(database.db, { state: 'degraded' });
    expect(await enterMaintenance(database.db, { ...why, nodeId, rolloutId: MINE })).toBe(true);
    expect(await maintenanceOf(nodeId)).toEqual({
      state: 'maintenance',
      prior_state: 'degraded',
      maintenance_owner: MINE,
    });
    expect(await leaveMaintenance(database.db, { ...why, nodeId, rolloutId: MINE, to: 'syncing' })).toBe(true);
    expect(await maintenanceOf(nodeId)).toEqual({ state: 'syncing', prior_state: null, maintenance_owner: null });
  });

  it('changes nothing when it is entered or left a second time (C13)', async () => {
    const nodeId = await insertNode(database.db);
    for (const _ of [1, 2]) expect(await enterMaintenance(database.db, { ...why, nodeId, rolloutId: MINE })).toBe(true);
    expect(await leaveMaintenance(database.db, { ...why, nodeId, rolloutId: MINE, to: 'syncing' })).toBe(true);
    expect(await leaveMaintenance(database.db, { ...why, nodeId, rolloutId: MINE, to: 'syncing' })).toBe(false);
    expect(await eventsOf(nodeId)).toHaveLength(2);
  });

  it('is neither entered nor left for a node that another rollout holds (field-case 106)', async () => {
    const nodeId = await insertNode(database.db);
    await enterMaintenance(database.db, { ...why, nodeId, rolloutId: OTHER });
    expect(await enterMaintenance(database.db, { ...why, nodeId, rolloutId: MINE })).toBe(false);
    expect(await leaveMaintenance(database.db, { ...why, nodeId, rolloutId: MINE, to: 'syncing' })).toBe(false);
    expect(await maintenanceOf(nodeId)).toMatchObject({ maintenance_owner: OTHER });
  });

  it('is not for a node that is being terminated', async () => {
    const nodeId = await insertNode(database.db, { state: 'terminating' });
    expect(await enterMaintenance(database.db, { ...why, nodeId, rolloutId: MINE })).toBe(false);
  });
});
