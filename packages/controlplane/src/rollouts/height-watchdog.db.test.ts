import { reason } from '@hoodcloud/domain/reasons';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { type Insertable, sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RolloutsTable } from '../db/generated/tables.ts';
import { json } from '../db/json.ts';
import { IDLE_AFTER_HEIGHT_MS, watchHeights } from './height-watchdog.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

let chains = 0;

/** A rollout for height 500 of a chain that is at `height` since `stoodMs`. */
async function rolloutAt(height: number, over: Partial<Insertable<RolloutsTable>> = {}, stoodMs = 0): Promise<string> {
  chains += 1;
  const chain_profile_id = `height-${chains}`;
  await database.db
    .insertInto('chain_heights')
    .values({ chain_profile_id, best_height: height, grew_at: new Date(Date.now() - stoodMs) })
    .execute();
  return insertRollout(database.db, { chain_profile_id, status: 'running', start_at_height: 500, ...over });
}

/** The watchdog looks twice, longer apart than a rollout may be idle. */
async function watchTwice(rolloutId: string) {
  const { db } = database;
  await watchHeights(db);
  await sql`update rollouts set height_reached_at = height_reached_at - make_interval(secs => ${IDLE_AFTER_HEIGHT_MS / 1000})
             where id = ${rolloutId}`.execute(db);
  await watchHeights(db);
  return db.selectFrom('incidents').selectAll().where('rollout_id', '=', rolloutId).execute();
}

it('a height that came while nothing happened opens one incident that says what holds the rollout (field-case 130)', async () => {
  const held = [reason('max_in_flight_reached', { count: 1, limit: 1 })];
  const id = await rolloutAt(500, { last_decision: json({ kind: 'wait', reasons: held }) });
  const incidents = await watchTwice(id);
  expect(incidents).toMatchObject([{ category: 'height_passed', severity: 'critical', status: 'open' }]);
  expect(incidents[0]?.summary).toContain('reached height 500');
  expect(incidents[0]?.summary).toContain('In flight: 1 of at most 1 node.');
});

it('a rollout that nobody started, or somebody paused, is told too', async () => {
  expect((await watchTwice(await rolloutAt(507, { status: 'pending' })))[0]?.summary).toContain(
    'Waiting for its start.',
  );
  const paused = {
    status: 'paused',
    status_reason: 'paused_by_operator',
    status_reason_params: json({ actor: 'ann', why: 'lunch' }),
  } as const;
  expect((await watchTwice(await rolloutAt(507, paused)))[0]?.summary).toContain('Paused by ann: lunch');
});

it('a chain that stands right before the height has reached it (field-case 130)', async () => {
  expect(await watchTwice(await rolloutAt(499, {}, 90_000))).toHaveLength(1);
});

it('nothing is told before the height, before two minutes, or once a node was begun', async () => {
  expect(await watchTwice(await rolloutAt(499))).toEqual([]);
  const fresh = await rolloutAt(500);
  await watchHeights(database.db);
  await watchHeights(database.db);
  expect(await database.db.selectFrom('incidents').where('rollout_id', '=', fresh).execute()).toEqual([]);
  const begun = await rolloutAt(500);
  const node = await insertNode(database.db, { chain_profile_id: `height-${chains}` });
  await insertRolloutNode(database.db, begun, node, { status: 'in_progress', attempt_count: 1 });
  expect(await watchTwice(begun)).toEqual([]);
});

it('an incident that a person resolved is not opened again', async () => {
  const id = await rolloutAt(500);
  await watchTwice(id);
  await database.db.updateTable('incidents').set({ status: 'resolved' }).where('rollout_id', '=', id).execute();
  expect(await watchTwice(id)).toMatchObject([{ status: 'resolved' }]);
});
