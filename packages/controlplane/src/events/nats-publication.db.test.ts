import { eventMessageSchema } from '@hoodcloud/contracts/events/event-message';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { startTestNats, type TestNats } from '@hoodcloud/testkit/nats';
import { insertNode, insertRollout } from '@hoodcloud/testkit/rows';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { it as always, beforeEach, expect } from 'vitest';
import { natsProgram } from '../dev/nats-server.ts';
import { degradations } from '../telemetry/degradations.ts';
import { appendEvent } from './append-event.ts';
import { publishEvents } from './event-relay.ts';
import { natsPublication } from './nats-publication.ts';
import { NatsPublisher } from './nats-publisher.ts';
import { progressEvent } from './testing/progress-event.ts';

const SETTINGS = { stream: 'TEST', credentialsFile: null, authorityFile: null };

/** A machine without NATS leaves these out; in CI that counts as a failure. */
const it = always.skipIf(natsProgram() === null);

let nats: TestNats;
let database: MigratedDatabase;
let publisher: NatsPublisher;
beforeEach(async () => {
  if (natsProgram() === null) return undefined;
  [nats, database] = await Promise.all([startTestNats(), createMigratedDatabase()]);
  publisher = new NatsPublisher({ ...SETTINGS, servers: [nats.server.url] });
  return async () => {
    await publisher.close();
    await nats.dispose();
    await database.dispose();
  };
});

async function happen(rolloutId: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    await appendEvent(database.db, progressEvent(rolloutId, { succeeded: i, total: times }));
  }
  await publishEvents(database.db);
}

/** Runs the loop until nothing waits, as the runner would. */
async function publishAll(): Promise<void> {
  const { run } = natsPublication(database.db, publisher);
  while ((await run(new Date())) > 0);
}

interface Stored {
  readonly subject: string;
  readonly id: string;
  readonly body: unknown;
}

/** What the stream holds, in its order. */
async function stored(): Promise<Stored[]> {
  const connection = await connect({ servers: nats.server.url });
  try {
    const consumer = await jetstream(connection).consumers.get(SETTINGS.stream);
    const all: Stored[] = [];
    for (;;) {
      const messages = await consumer.fetch({ max_messages: 500, expires: 1000 });
      const before = all.length;
      for await (const message of messages) {
        all.push({ subject: message.subject, id: message.headers?.get('Nats-Msg-Id') ?? '', body: message.json() });
        if (message.info.pending === 0) return all;
      }
      if (all.length === before) return all;
    }
  } finally {
    await connection.close();
  }
}

const seqs = (messages: readonly Stored[]) => messages.map(({ body }) => eventMessageSchema.parse(body).seq);

it("publishes the specification's subjects with payloads of their schema, in the order of the outbox", async () => {
  const rolloutId = await insertRollout(database.db, { status: 'running' });
  const nodeId = await insertNode(database.db);
  const rollout = { subjectType: 'rollout', subjectId: rolloutId, rolloutId, actor: 'system:test' } as const;
  const node = { subjectType: 'node', subjectId: nodeId, rolloutId, nodeId, actor: 'system:test' } as const;
  for (const kind of ['rollout_started', 'rollout_progress', 'rollout_completed'] as const) {
    await appendEvent(database.db, { kind, ...rollout });
  }
  for (const kind of ['node_upgrade_started', 'node_upgrade_completed', 'node_upgrade_phase_changed'] as const) {
    await appendEvent(database.db, { kind, ...node });
  }
  await publishEvents(database.db);
  await publishAll();
  const messages = await stored();
  expect(messages.map(({ subject }) => subject)).toEqual([
    `events.rollout.${rolloutId}.started`,
    `events.rollout.${rolloutId}.progress`,
    `events.rollout.${rolloutId}.completed`,
    `events.node.${nodeId}.upgrade_started`,
    `events.node.${nodeId}.upgrade_completed`,
    `events.node.${nodeId}.upgrade_phase_changed`,
  ]);
  expect(seqs(messages)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(messages[3]?.body).toMatchObject({
    schema_version: 1,
    kind: 'node_upgrade_started',
    chain_profile_id: 'testchain',
  });
});

it('keeps its place while NATS is away, says so, and publishes what was written meanwhile once it is back', async () => {
  const rolloutId = await insertRollout(database.db, { status: 'running' });
  await happen(rolloutId, 5);
  await publishAll();
  await nats.server.kill();
  await happen(rolloutId, 120);
  await expect(publishAll()).rejects.toThrow();
  expect(degradations()).toEqual([expect.stringMatching(/^NATS: 120 events wait in the outbox/)]);
  await nats.server.start();
  await publishAll();
  expect(degradations()).toEqual([]);
  expect(seqs(await stored())).toEqual(Array.from({ length: 125 }, (_, index) => index + 1));
});

it('stores an event once though it is published again by an instance that did not hear how it went', async () => {
  const rolloutId = await insertRollout(database.db, { status: 'running' });
  await happen(rolloutId, 10);
  await publishAll();
  // the instance died before it could note how far it had come
  await database.db.updateTable('event_cursors').set({ last_seq: 4 }).where('consumer', '=', 'nats').execute();
  await publishAll();
  expect(seqs(await stored())).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

it('publishes nothing after an event that NATS did not take, and goes on with that one', async () => {
  const rolloutId = await insertRollout(database.db, { status: 'running' });
  await happen(rolloutId, 6);
  const taken: number[] = [];
  let refused = 4;
  const { run } = natsPublication(database.db, {
    connect: async () => undefined,
    publish: async ({ seq }) => {
      if (seq === refused) throw new Error('no answer');
      taken.push(seq);
    },
  });
  await expect(run(new Date())).rejects.toThrow('no answer');
  expect(taken).toEqual([1, 2, 3]);
  refused = 0;
  await run(new Date());
  expect(taken).toEqual([1, 2, 3, 4, 5, 6]);
});

it.each([
  [['events.>'], ['events.>']],
  [
    ['events.rollout.>', 'mine'],
    ['events.rollout.>', 'mine', 'events.node.>', 'events.incident.>'],
  ],
])('leaves a stream of %o as its operator set it, and adds the subjects that it lacks', async (subjects, kept) => {
  const rolloutId = await insertRollout(database.db, { status: 'running' });
  const connection = await connect({ servers: nats.server.url });
  const { streams } = await jetstreamManager(connection);
  await streams.add({ name: SETTINGS.stream, subjects, max_msgs: 1000 });
  await happen(rolloutId, 2);
  await publishAll();
  const { config } = await streams.info(SETTINGS.stream);
  expect(config.max_msgs).toBe(1000);
  expect(config.subjects).toEqual(expect.arrayContaining(kept));
  await connection.close();
});
