import type { Page } from '@hoodcloud/contracts/http/common';
import type { EventView } from '@hoodcloud/contracts/http/events';
import { insertGroup } from '@hoodcloud/testkit/group-rows';
import { insertNode, insertRollout } from '@hoodcloud/testkit/rows';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../http/testing/api-fixture.ts';
import { appendEvent } from './append-event.ts';
import { publishEvents } from './event-relay.ts';

let api: ApiFixture;
let nodeId: string;
beforeAll(async () => {
  api = await ApiFixture.create();
  const { db } = api.database;
  nodeId = await insertNode(db, { chain_profile_id: 'alpha' });
  const rolloutId = await insertRollout(db, { chain_profile_id: 'alpha', status: 'running' });
  const groupId = await insertGroup(db, { chain_profile_id: 'beta' });
  const ofRollout = { subjectType: 'rollout', subjectId: rolloutId, rolloutId } as const;
  for (const [actor, control] of [
    ['key:anna', 'pause'],
    ['user:bert@example.org', 'resume'],
  ] as const) {
    await appendEvent(db, { ...ofRollout, kind: 'rollout_control_ordered', actor, data: { control, reason: 'disk' } });
  }
  const change = { from: 'healthy', to: 'maintenance' } as const;
  await appendEvent(db, {
    kind: 'node_state_changed',
    subjectType: 'node',
    subjectId: nodeId,
    nodeId,
    actor: 'system:rollout',
    data: change,
  });
  const ofGroup = { subjectType: 'rollout_group', subjectId: groupId } as const;
  const data = { control: 'cancel', component_index: null, reason: null } as const;
  await appendEvent(db, { ...ofGroup, kind: 'group_control_ordered', actor: 'key:anna', data });
  await publishEvents(db);
});
afterAll(() => api.dispose());

const audit = async (query: string) => (await api.call<Page<EventView>>('GET', `/audit?${query}`)).body;
const what = ({ items }: Page<EventView>) =>
  items.filter(({ kind }) => kind !== 'api_key_created').map(({ data }) => data.control ?? data.to);

describe('the audit', () => {
  it.each([
    ['', ['cancel', 'resume', 'pause']],
    ['by=system', ['maintenance']],
    ['by=all', ['cancel', 'maintenance', 'resume', 'pause']],
    ['actor=ANNA', ['cancel', 'pause']],
    ['kind=group_control_ordered', ['cancel']],
    ['chain_profile_id=beta', ['cancel']],
    ['by=all&chain_profile_id=alpha', ['maintenance', 'resume', 'pause']],
    ['since=2999-01-01T00:00:00Z', []],
    ['until=2999-01-01T00:00:00Z&by=system', ['maintenance']],
  ])('is filtered by the server, the newest first: %s', async (query, expected) => {
    expect(what(await audit(query))).toEqual(expected);
  });

  it('comes in pages, each event once', async () => {
    const first = await audit('limit=2');
    expect(what(first)).toEqual(['cancel', 'resume']);
    const second = await audit(`limit=2&cursor=${first.next_cursor}`);
    expect([what(second), second.next_cursor]).toEqual([['pause'], null]);
  });

  it('finds what people did by an index of its own, however much the system did', async () => {
    const { db } = api.database;
    const plan = await db.transaction().execute(async (tx) => {
      await sql`set local enable_seqscan = off`.execute(tx);
      return sql<{ 'QUERY PLAN': string }>`explain select * from events e where e.published_seq is not null
        and e.actor not like 'system:%' order by e.published_seq desc limit 5`.execute(tx);
    });
    expect(plan.rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('events_by_people');
  });
});
