import { Gauge } from 'prom-client';
import type { Database } from '../db/database.ts';
import type { Reconciler } from '../feature.ts';
import { setDegradation } from '../telemetry/degradations.ts';
import { metrics } from '../telemetry/registry.ts';
import { countWaiting, moveCursor, readCursor } from './event-cursor.ts';
import { listEvents } from './event-read-model.ts';
import { EVENTS_PUBLISHED } from './event-relay.ts';
import type { NatsPublisher } from './nats-publisher.ts';

const CONSUMER = 'nats';
const BATCH = 200;

const connected = new Gauge({
  name: 'hoodcloud_nats_connected',
  help: 'Whether the last try to publish events reached NATS (1) or not (0).',
  registers: [metrics],
});
const waiting = new Gauge({
  name: 'hoodcloud_nats_events_waiting',
  help: 'Events in the outbox that NATS has not stored yet.',
  registers: [metrics],
});

/**
 * Publishes events to NATS in the order of their numbers, each only after the one before is stored, and remembers how far
 * it came: at least once, in order, whatever ends in between (C11). While NATS is away everything else goes on; the runner
 * tries again with growing pauses.
 */
export function natsPublication(db: Database, publisher: Pick<NatsPublisher, 'connect' | 'publish'>): Reconciler {
  return {
    name: 'nats-publication',
    intervalMs: 2000,
    wokenBy: EVENTS_PUBLISHED,
    runs: 'leader',
    run: async () => {
      try {
        const did = await publishBatch(db, publisher);
        connected.set(1);
        setDegradation('NATS', null);
        if (did < BATCH) waiting.set(0);
        return did;
      } catch (error) {
        await tell(db, error);
        throw error;
      }
    },
  };
}

async function publishBatch(db: Database, publisher: Pick<NatsPublisher, 'connect' | 'publish'>): Promise<number> {
  await publisher.connect();
  const after = await readCursor(db, CONSUMER);
  const { items } = await listEvents(db, { after, limit: BATCH });
  let stored = after;
  try {
    for (const event of items) {
      await publisher.publish(event);
      stored = event.seq;
    }
  } finally {
    if (stored > after) await moveCursor(db, CONSUMER, stored);
  }
  return items.length;
}

async function tell(db: Database, error: unknown): Promise<void> {
  const left = await countWaiting(db, await readCursor(db, CONSUMER));
  connected.set(0);
  waiting.set(left);
  const why = error instanceof Error ? error.message : String(error);
  setDegradation('NATS', `${left} events wait in the outbox until it takes them (${why})`);
}
