import type { EventPage, EventView } from '@hoodcloud/contracts/http/events';
import { reason } from '@hoodcloud/domain/reasons';
import { insertNode, insertRollout } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { ApiFixture } from '../http/testing/api-fixture.ts';
import { appendEvent } from './append-event.ts';
import { publishEvents } from './event-relay.ts';

/** Long enough for a busy machine; a condition that holds ends the wait at once. */
const SOON = { timeout: 30_000 };

let api: ApiFixture;
let url: string;
let rolloutId: string;
beforeAll(async () => {
  api = await ApiFixture.create();
  url = await api.app.listen({ port: 0, host: '127.0.0.1' });
});
beforeEach(async () => {
  rolloutId = await insertRollout(api.database.db, { status: 'completed' });
  await happen('first');
  await happen('second');
});
afterAll(() => api.dispose());

async function happen(why: string): Promise<void> {
  await appendEvent(api.database.db, {
    kind: 'rollout_paused',
    subjectType: 'rollout',
    subjectId: rolloutId,
    rolloutId,
    reason: reason('paused_by_operator', { actor: 'key:test', why }),
    actor: 'key:test',
  });
  await publishEvents(api.database.db);
}

/** Reads the rollout's stream until `stop` is called; `heard` grows as events come. */
async function follow(lastEventId?: number) {
  const controller = new AbortController();
  const headers = {
    authorization: `Bearer ${api.key}`,
    accept: 'text/event-stream',
    ...(lastEventId !== undefined && { 'last-event-id': String(lastEventId) }),
  };
  const response = await fetch(`${url}/api/v1/rollouts/${rolloutId}/events`, { headers, signal: controller.signal });
  const heard: EventView[] = [];
  const reading = (async () => {
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString('utf8');
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (data) heard.push(JSON.parse(data));
      }
    }
  })().catch((error: Error) => {
    if (error.name !== 'AbortError') throw error;
  });
  return {
    heard,
    /** Resolves when the server ends the stream. */
    ended: reading,
    stop: async () => {
      controller.abort();
      await reading;
    },
  };
}

const whys = (events: readonly EventView[]) => events.map((event) => event.reason?.params.why);

it('lists what happened in its order, after a number', async () => {
  const { body } = await api.call<EventPage>('GET', `/rollouts/${rolloutId}/events`);
  expect(whys(body.items)).toEqual(['first', 'second']);
  expect(body.items[0]?.reason?.sentence).toBe('Paused by key:test: first');
  const later = await api.call<EventPage>('GET', `/rollouts/${rolloutId}/events?after=${body.items[0]?.seq}`);
  expect(whys(later.body.items)).toEqual(['second']);
  const none = await api.call<EventPage>('GET', `/rollouts/${rolloutId}/events?after=${later.body.next_after}`);
  expect(none.body).toEqual({ items: [], next_after: later.body.next_after });
});

it('streams what is stored and then what comes; a client that lost it continues where it was', async () => {
  const stream = await follow();
  await vi.waitFor(() => expect(whys(stream.heard)).toEqual(['first', 'second']), SOON);
  await happen('third');
  await vi.waitFor(() => expect(whys(stream.heard)).toEqual(['first', 'second', 'third']), SOON);
  await stream.stop();
  await happen('while away');
  const again = await follow(stream.heard.at(-1)?.seq);
  await vi.waitFor(() => expect(whys(again.heard)).toEqual(['while away']), SOON);
  await again.stop();
});

it('ends the stream when the database fails, so that the client comes back and misses nothing', async () => {
  const stream = await follow();
  await vi.waitFor(() => expect(stream.heard).toHaveLength(2), SOON);
  await api.database.pool.query('alter table events rename to events_away');
  await api.database.pool.query("select pg_notify('events_published', '')");
  await stream.ended;
  await api.database.pool.query('alter table events_away rename to events');
  await happen('after the failure');
  const again = await follow(stream.heard.at(-1)?.seq);
  await vi.waitFor(() => expect(whys(again.heard)).toEqual(['after the failure']), SOON);
  await again.stop();
});

it('does not show an event before it has its number (C11)', async () => {
  const before = (await api.call<EventPage>('GET', '/events?limit=1000')).body.items.length;
  await appendEvent(api.database.db, {
    kind: 'node_joined',
    subjectType: 'node',
    subjectId: rolloutId,
    actor: 'system:test',
  });
  expect((await api.call<EventPage>('GET', '/events?limit=1000')).body.items).toHaveLength(before);
});

it('answers with the newest events in their order, where a client wants to begin at the end', async () => {
  await happen('third');
  const { body } = await api.call<EventPage>('GET', `/rollouts/${rolloutId}/events?newest=true&limit=2`);
  expect(body.items.map(({ reason: why }) => why?.params.why)).toEqual(['second', 'third']);
  expect(body.next_after).toBe(body.items[1]?.seq);
});

it('answers with the events of one node', async () => {
  const nodeId = await insertNode(api.database.db);
  await appendEvent(api.database.db, {
    kind: 'node_joined',
    subjectType: 'node',
    subjectId: nodeId,
    nodeId,
    actor: 'system:test',
  });
  await publishEvents(api.database.db);
  const { body } = await api.call<EventPage>('GET', `/events?node_id=${nodeId}`);
  expect(body.items.map(({ kind, subject_id }) => [kind, subject_id])).toEqual([['node_joined', nodeId]]);
});
