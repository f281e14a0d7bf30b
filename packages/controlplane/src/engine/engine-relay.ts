import type { Client } from '@temporalio/client';
import type { Database } from '../db/database.ts';
import { deliverBatch } from '../db/outbox.ts';
import type { Reconciler } from '../feature.ts';
import { EngineDelivery } from './deliver-to-engine.ts';
import { engineMessageOutbox } from './engine-messages.ts';

const BATCH = 100;

/** The one way into the engine (B4): any number of instances share the messages by SKIP LOCKED. */
export function engineRelay(db: Database, client: Client, taskQueue: string): Reconciler {
  const delivery = new EngineDelivery(db, client, taskQueue);
  const outbox = engineMessageOutbox((message) => delivery.deliver(message));
  return {
    name: 'engine-relay',
    intervalMs: 1000,
    wokenBy: 'engine_messages',
    runs: 'shared',
    run: () => deliverBatch(db, outbox, BATCH),
  };
}
