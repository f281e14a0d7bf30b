import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import type { Insertable } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AgentCommandsTable, RolloutNodesTable } from '../db/generated/tables.ts';
import { releaseForgotten } from './maintenance-cleanup.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

let chains = 0;

/** A node in a rollout's maintenance, whose row has the given status. */
async function inMaintenance(
  status: NonNullable<Insertable<RolloutNodesTable>['status']>,
  command: Partial<Insertable<AgentCommandsTable>> = { status: 'failed', outcome: 'rolled_back', ended_at: new Date() },
): Promise<string> {
  const { db } = database;
  chains += 1;
  const chain_profile_id = `chain-${chains}`;
  const rolloutId = await insertRollout(db, { chain_profile_id, status: 'completed' });
  const nodeId = await insertNode(db, {
    chain_profile_id,
    state: 'maintenance',
    prior_state: 'degraded',
    maintenance_owner: rolloutId,
  });
  const rowId = await insertRolloutNode(db, rolloutId, nodeId, { status });
  await db
    .insertInto('agent_commands')
    .values({
      node_id: nodeId,
      rollout_id: rolloutId,
      rollout_node_id: rowId,
      attempt_id: `${rolloutId}.${nodeId}.1`,
      operation: 'UPGRADE',
      payload: Buffer.from(''),
      workflow_id: 'w',
      deadline_at: new Date(),
      ...command,
    })
    .execute();
  return nodeId;
}

const stateOf = async (nodeId: string) =>
  (await database.db.selectFrom('nodes').select('state').where('id', '=', nodeId).executeTakeFirstOrThrow()).state;

it('releases a node whose attempt is over to the state it had before (D5)', async () => {
  const nodeId = await inMaintenance('failed');
  await releaseForgotten(database.db);
  expect(await stateOf(nodeId)).toBe('degraded');
});

it.each(['in_progress', 'validating', 'pending'] as const)('leaves a node alone whose row is %s', async (status) => {
  const nodeId = await inMaintenance(status);
  await releaseForgotten(database.db);
  expect(await stateOf(nodeId)).toBe('maintenance');
});

it('leaves a node alone whose agent is still commanded', async () => {
  const nodeId = await inMaintenance('failed', { status: 'acknowledged' });
  await releaseForgotten(database.db);
  expect(await stateOf(nodeId)).toBe('maintenance');
});

it('leaves a node alone that may be stopping or migrating still, until its component is up', async () => {
  const ended = new Date(Date.now() + 60_000); // later than what the component last reported
  const nodeId = await inMaintenance('failed', { status: 'expired', outcome: null, ended_at: ended });
  await releaseForgotten(database.db);
  expect(await stateOf(nodeId)).toBe('maintenance');
  await database.db
    .updateTable('node_components')
    .set({ updated_at: new Date(ended.getTime() + 1000) })
    .where('node_id', '=', nodeId)
    .execute();
  await releaseForgotten(database.db);
  expect(await stateOf(nodeId)).toBe('degraded');
});
