import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expireSilent, extendBusy } from './command-expiry.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

let chains = 0;

/** A command whose deadline passed a second ago. */
async function overdue(
  change: { operation?: 'UPGRADE' | 'CONFIRM'; progressSecondsAgo?: number } = {},
): Promise<string> {
  const { db } = database;
  chains += 1;
  const chain = `chain-${chains}`;
  const nodeId = await insertNode(db, { chain_profile_id: chain });
  const rolloutId = await insertRollout(db, { chain_profile_id: chain, status: 'running' });
  const rowId = await insertRolloutNode(db, rolloutId, nodeId, { status: 'in_progress' });
  const ago = (seconds: number) => sql<Date>`clock_timestamp() - make_interval(secs => ${seconds})`;
  const { id } = await db
    .insertInto('agent_commands')
    .values({
      node_id: nodeId,
      rollout_id: rolloutId,
      rollout_node_id: rowId,
      attempt_id: `${rolloutId}.${nodeId}.1`,
      operation: change.operation ?? 'UPGRADE',
      payload: Buffer.from(''),
      workflow_id: `upgrade-${rolloutId}-${nodeId}`,
      deadline_at: ago(1),
      progress_at: change.progressSecondsAgo === undefined ? null : ago(change.progressSecondsAgo),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

const statusOf = async (id: string) =>
  (await database.db.selectFrom('agent_commands').select('status').where('id', '=', id).executeTakeFirstOrThrow())
    .status;

const messagesTo = (id: string) =>
  database.db.selectFrom('engine_messages').select('workflow_type').where('activity_id', '=', id).execute();

it('an overdue command of a silent agent expires, once, and its workflow is told (B5a)', async () => {
  const id = await overdue({ progressSecondsAgo: 120 });
  await Promise.all([expireSilent(database.db), expireSilent(database.db)]);
  expect(await statusOf(id)).toBe('expired');
  expect(await messagesTo(id)).toHaveLength(1);
});

it('an agent that still tells of progress gets more time: a slow stop is never cut short (A7)', async () => {
  const id = await overdue({ progressSecondsAgo: 5 });
  await extendBusy(database.db);
  await expireSilent(database.db);
  expect(await statusOf(id)).toBe('pending');
  const { deadline_at } = await database.db
    .selectFrom('agent_commands')
    .select('deadline_at')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  expect(deadline_at.getTime()).toBeGreaterThan(Date.now());
});

it('a confirmation that runs steps of the vendor is waited for, so that its expiry is told (ADR 0046)', async () => {
  const id = await overdue({ operation: 'CONFIRM' });
  await expireSilent(database.db);
  expect(await statusOf(id)).toBe('expired');
  expect(await messagesTo(id)).toHaveLength(1);
});
