import type { ChannelConfig } from '@hoodcloud/contracts/files/notification-channels';
import type { EventView } from '@hoodcloud/contracts/http/events';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertRollout } from '@hoodcloud/testkit/rows';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { appendEvent } from '../events/append-event.ts';
import { publishEvents } from '../events/event-relay.ts';
import { channelDispatch, pauseAfter } from './channel-dispatch.ts';
import { registerChannels } from './channel-store.ts';
import { DeliveryError, type NotificationMessage } from './notification-message.ts';
import { findChannel, listDeliveries } from './notification-read-model.ts';
import { orderResend, orderTest } from './notification-service.ts';

const HOOK = {
  type: 'webhook',
  url: 'https://hook.test',
  secret: { env: 'S' },
  allow_http: false,
  allow_private_addresses: false,
} as const;
const SLACK = {
  type: 'slack',
  url: { env: 'S' },
  allow_http: false,
  allow_private_addresses: false,
  max_per_minute: 5,
} as const;
const usual = { name: 'ops', min_severity: 'info', max_attempts: 3 } as const;
const hook: ChannelConfig = { ...HOOK, ...usual, events: 'all' };
const slack: ChannelConfig = { ...SLACK, ...usual, events: 'all' };

let database: MigratedDatabase;
let rolloutId: string;
/** What the receiver took. */
let taken: NotificationMessage[];
/** What it says to the next messages. */
let refuse: (message: NotificationMessage) => DeliveryError | null;
beforeEach(async () => {
  database = await createMigratedDatabase();
  rolloutId = await insertRollout(database.db, { status: 'running' });
  taken = [];
  refuse = () => null;
});
afterEach(() => database.dispose());

async function happen(times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    await appendEvent(database.db, {
      kind: i % 2 === 0 ? 'rollout_paused' : 'rollout_progress',
      subjectType: 'rollout',
      subjectId: rolloutId,
      rolloutId,
      actor: 'system:test',
    });
  }
  await publishEvents(database.db);
}

function dispatch(config: ChannelConfig): () => Promise<number> {
  const log = { warn: () => undefined };
  const send = async (message: NotificationMessage) => {
    const refusal = refuse(message);
    if (refusal) throw refusal;
    taken.push(message);
  };
  const { run } = channelDispatch({ db: database.db, log }, config, { send });
  return async () => {
    let did = 0;
    for (let step = await run(new Date()); step > 0; step = await run(new Date())) did += step;
    return did;
  };
}

const seqOf = (message: NotificationMessage) => (message.kind === 'event' ? message.event.seq : null);
const channel = async () => {
  const view = await findChannel(database.db, 'ops');
  if (!view) throw new Error('it is registered');
  return view;
};
/** The pause after a failure is over. */
const rested = () => database.pool.query('update notification_channels set next_attempt_at = now()');
const down = () => new DeliveryError('the hook was not reached');

it('tells what happens from its registration on, each event once, in order, whatever it does not want between them', async () => {
  await happen(3);
  await registerChannels(database.db, [{ ...hook, events: ['rollout_paused'] }]);
  await happen(5);
  const run = dispatch({ ...hook, events: ['rollout_paused'] });
  await run();
  expect(taken.map(seqOf)).toEqual([4, 6, 8]);
  await run();
  expect(taken).toHaveLength(3);
  expect(await channel()).toMatchObject({ waiting: 0, failing_since: null, configured: true });
});

it('keeps its place while the receiver is down, and goes on in order without a gap', async () => {
  await registerChannels(database.db, [hook]);
  await happen(4);
  refuse = (message) => (seqOf(message) === 2 ? down() : null);
  await dispatch(hook)();
  expect(taken.map(seqOf)).toEqual([1]);
  expect(await channel()).toMatchObject({ waiting: 3, last_error: 'the hook was not reached', dead_letters: 0 });
  await dispatch(hook)(); // it rests: nothing is tried
  refuse = () => null;
  await dispatch(hook)();
  expect(taken.map(seqOf)).toEqual([1]);
  await rested();
  await dispatch(hook)(); // another instance finds the place in the database
  expect(taken.map(seqOf)).toEqual([1, 2, 3, 4]);
  expect(await channel()).toMatchObject({ failing_since: null, last_error: null });
});

it('tries a message again under the same id', async () => {
  await registerChannels(database.db, [hook]);
  await happen(1);
  const ids: string[] = [];
  refuse = ({ id }) => {
    ids.push(id);
    return ids.length < 3 ? down() : null;
  };
  for (let i = 0; i < 3; i++) {
    await dispatch(hook)();
    await rested();
  }
  expect(new Set(ids).size).toBe(1);
  expect(ids).toHaveLength(3);
});

it('gives a message up after its tries, shows it as a dead letter, and sends it once more when a person says so', async () => {
  await registerChannels(database.db, [hook]);
  await happen(2);
  refuse = (message) => (seqOf(message) === 1 ? down() : null);
  for (let i = 0; i < 3; i++) {
    await dispatch(hook)();
    await rested();
  }
  await dispatch(hook)();
  expect(taken.map(seqOf)).toEqual([2]);
  const query = { limit: 10, status: 'dead' } as const;
  const { items } = await listDeliveries(database.db, query);
  expect(items).toMatchObject([
    { event_seq: 1, event_kind: 'rollout_paused', attempts: 3, last_error: 'the hook was not reached' },
  ]);
  refuse = () => null;
  expect(await orderResend(database.db, { channel: 'ops' }, 'key:test')).toBe(1);
  await dispatch(hook)();
  expect(taken.map(seqOf)).toEqual([2, 1]);
  expect((await listDeliveries(database.db, query)).items).toEqual([]);
});

it('gives a message that is refused for good up at once, and goes straight on', async () => {
  await registerChannels(database.db, [hook]);
  await happen(3);
  refuse = (message) => (seqOf(message) === 1 ? new DeliveryError('the hook answered 422', { permanent: true }) : null);
  await dispatch(hook)();
  await dispatch(hook)();
  expect(taken.map(seqOf)).toEqual([2, 3]);
  expect(await channel()).toMatchObject({ dead_letters: 1 });
});

it('rests as long as the receiver asks for', async () => {
  await registerChannels(database.db, [hook]);
  await happen(1);
  refuse = () => new DeliveryError('the hook answered 429', { retryAfterMs: 600_000 });
  await dispatch(hook)();
  const { next_attempt_at } = await channel();
  expect(Date.parse(next_attempt_at ?? '')).toBeGreaterThan(Date.now() + 500_000);
});

it('tells people the rest of a flood in one summary, and programs every single event', async () => {
  await registerChannels(database.db, [slack]);
  await happen(60);
  await dispatch(slack)();
  expect(taken.map(({ kind }) => kind)).toEqual(['event', 'event', 'event', 'event', 'summary']);
  expect((taken.at(-1) as { events: readonly EventView[] }).events.map(({ seq }) => seq)).toEqual(
    Array.from({ length: 56 }, (_, index) => index + 5),
  );
  await happen(1);
  expect(await dispatch(slack)()).toBe(0); // this minute's messages are used up
  await database.pool.query("update notification_channels set window_started_at = now() - interval '61 seconds'");
  expect(await dispatch(slack)()).toBe(1);
});

it('sends a test at once though the line rests, and a test that is taken wakes the line', async () => {
  await registerChannels(database.db, [hook]);
  await happen(1);
  refuse = down;
  await dispatch(hook)();
  refuse = () => null;
  const id = await orderTest(database.db, 'ops', 'key:test');
  await dispatch(hook)();
  expect(taken).toMatchObject([{ kind: 'test', id: `test_${id}`, orderedBy: 'key:test' }, { kind: 'event' }]);
});

it('keeps place and dead letters of a channel that is no longer configured', async () => {
  await registerChannels(database.db, [hook]);
  await happen(1);
  refuse = () => new DeliveryError('no', { permanent: true });
  await dispatch(hook)();
  await registerChannels(database.db, []);
  expect(await channel()).toMatchObject({ configured: false, dead_letters: 1 });
  await happen(2);
  await registerChannels(database.db, [hook]);
  refuse = () => null;
  await dispatch(hook)();
  expect(taken.map(seqOf)).toEqual([2, 3]);
});

it('pauses longer after each failure, up to five minutes, and by chance a little shorter', () => {
  expect([1, 2, 3, 9, 50].map((attempts) => pauseAfter(attempts, () => 1))).toEqual([
    2000, 4000, 8000, 300_000, 300_000,
  ]);
  expect(pauseAfter(3, () => 0)).toBe(4000);
});
