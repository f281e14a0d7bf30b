import { countedDatabase } from '@hoodcloud/testkit/counted-database';
import { insertGroup } from '@hoodcloud/testkit/group-rows';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode, insertRollout } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Notifications } from '../db/notifications.ts';
import { appendEvent } from './append-event.ts';
import { EventFeed } from './event-feed.ts';
import { type EventFilter, listEvents, newestSeq } from './event-read-model.ts';
import { publishEvents } from './event-relay.ts';

/** More than a feed keeps. */
const MANY = 2_500;
const SOON = { timeout: 30_000 };

let database: MigratedDatabase;
let notifications: Notifications;
beforeAll(async () => {
  database = await createMigratedDatabase();
  notifications = await Notifications.open(database.url, () => undefined);
});
afterAll(async () => {
  await notifications.close();
  await database.dispose();
});

async function happens(rolloutId: string, nodeId: string | null = null): Promise<void> {
  const subject = { subjectType: 'rollout', subjectId: rolloutId, rolloutId, nodeId } as const;
  await appendEvent(database.db, { kind: 'rollout_paused', ...subject, actor: 'key:test' });
}

it.each([[1], [30]])('an event costs one read, however many follow: %i', async (followers) => {
  const counted = countedDatabase(database.url);
  const feed = new EventFeed({ db: counted.db, notifications });
  const rolloutId = await insertRollout(database.db, { status: 'completed' });
  const after = await newestSeq(database.db);
  const all = await Promise.all(Array.from({ length: followers }, () => feed.follow()));
  await vi.waitFor(() => expect(counted.statements()).toBe(2), SOON); // where it begins, and what came since
  await happens(rolloutId);
  await publishEvents(database.db);
  await Promise.all(all.map((one) => one.news()));
  for (const one of all) expect(one.page(after, 10, { rolloutId })?.items).toHaveLength(1);
  expect(counted.statements()).toBe(3);
  for (const one of all) one.stop();
  await counted.dispose();
});

it('gives what the list gives, by rollout, group and node, page by page', async () => {
  const feed = new EventFeed({ db: database.db, notifications });
  const follower = await feed.follow();
  const after = await newestSeq(database.db);
  const groupId = await insertGroup(database.db, { chain_profile_id: 'testchain', status: 'completed' });
  const alone = await insertRollout(database.db, { status: 'completed' });
  const member = await insertRollout(database.db, { status: 'completed', group_id: groupId, component_index: 0 });
  const nodeId = await insertNode(database.db);
  for (let turn = 0; turn < 10; turn += 1) {
    await happens(alone);
    await happens(member, turn % 2 === 0 ? nodeId : null);
    const subject = { subjectType: 'rollout_group', subjectId: groupId } as const;
    await appendEvent(database.db, { kind: 'group_paused', ...subject, actor: 'key:test' });
  }
  await publishEvents(database.db);
  const newest = await newestSeq(database.db);
  await vi.waitFor(() => expect(follower.page(newest - 1, 1, {})?.items).toHaveLength(1), SOON);
  const filters: EventFilter[] = [{}, { rolloutId: alone }, { rolloutId: member }, { groupId }, { nodeId }];
  for (const only of filters) {
    let cursor = after;
    for (
      let page = follower.page(cursor, 4, only);
      page && page.items.length > 0;
      page = follower.page(cursor, 4, only)
    ) {
      const stored = await listEvents(database.db, { after: cursor, limit: 4, ...only });
      expect(page.items).toEqual(stored.items);
      cursor = page.nextAfter;
    }
    expect((await listEvents(database.db, { after: cursor, limit: 4, ...only })).items).toEqual([]);
  }
  follower.stop();
});

it('who is further behind than memory reaches is told so, and loses nothing', async () => {
  const feed = new EventFeed({ db: database.db, notifications });
  const follower = await feed.follow();
  const rolloutId = await insertRollout(database.db, { status: 'completed' });
  const after = await newestSeq(database.db);
  for (let turn = 0; turn < MANY; turn += 1) await happens(rolloutId);
  while ((await publishEvents(database.db)) > 0);
  const newest = await newestSeq(database.db);
  await vi.waitFor(() => expect(follower.page(newest - 1, 1, {})?.items).toHaveLength(1), SOON);
  expect(follower.page(after, 10, {})).toBeNull();
  expect(follower.reach).toBeGreaterThan(after);
  expect(follower.page(follower.reach, MANY, {})?.items).toHaveLength(newest - follower.reach);
  follower.stop();
});
