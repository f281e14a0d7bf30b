import type { Client } from '@temporalio/client';
import { deliverBatch } from '../db/outbox.ts';
import type { Reconciler, Services } from '../feature.ts';
import { EngineDelivery } from './deliver-to-engine.ts';
import { engineMessageOutbox } from './engine-messages.ts';

const BATCH = 100;

/** The one way into the engine (B4): any number of instances share the messages by SKIP LOCKED. */
export function engineRelay({ db, log }: Services, client: Client, taskQueue: string): Reconciler {
  const delivery = new EngineDelivery(db, client, taskQueue);
  const outbox = engineMessageOutbox(async (message) => {
    try {
      await delivery.deliver(message);
    } catch (error) {
      const { workflow_id, signal, activity_id, attempts } = message;
      log.warn({ err: error, workflow_id, signal, activity_id, attempts }, 'the engine could not be told; tried again');
      throw error;
    }
  });
  return {
    name: 'engine-relay',
    intervalMs: 1000,
    wokenBy: 'engine_messages',
    runs: 'shared',
    run: () => deliverBatch(db, outbox, BATCH),
  };
}
