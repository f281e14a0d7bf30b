import type { ServerResponse } from 'node:http';
import type { EventView } from '@hoodcloud/contracts/http/events';
import type { Database } from '../db/database.ts';
import type { Notifications } from '../db/notifications.ts';
import { listEvents } from './event-read-model.ts';
import { EVENTS_PUBLISHED } from './event-relay.ts';

/** A comment now and then keeps proxies from closing a quiet stream. */
const KEEP_ALIVE_MS = 15_000;
/** Looked at anyway, should a notification be missed. */
const POLL_MS = 5000;
const BATCH = 200;

export interface EventStreamOptions {
  readonly after: number;
  readonly rolloutId?: string;
  readonly groupId?: string;
  readonly nodeId?: string;
}

/**
 * Writes events as server-sent events until the client goes away: first what is stored after `after`, then what comes.
 * `id:` is the event's number, so a client that lost the stream continues with Last-Event-ID and misses nothing.
 */
export async function streamEvents(
  response: ServerResponse,
  services: { readonly db: Database; readonly notifications: Pick<Notifications, 'listen'> },
  { after, ...only }: EventStreamOptions,
): Promise<void> {
  let wake: () => void = () => undefined;
  let woken = false;
  const onNews = (): void => {
    woken = true;
    wake();
  };
  const stopListening = await services.notifications.listen(EVENTS_PUBLISHED, onNews);
  response.on('close', onNews);
  const keepAlive = setInterval(() => response.write(': alive\n\n'), KEEP_ALIVE_MS);
  try {
    let cursor = after;
    while (!response.destroyed) {
      woken = false;
      const page = await listEvents(services.db, { after: cursor, limit: BATCH, ...only });
      for (const event of page.items) {
        if (!response.write(serverSentEvent(event))) await drained(response);
      }
      cursor = page.next_after;
      if (page.items.length === BATCH || woken || response.destroyed) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, POLL_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  } finally {
    clearInterval(keepAlive);
    stopListening();
    response.end();
  }
}

/** A client that reads slowly is waited for: what it has not read stays in the database, not in our memory. */
async function drained(response: ServerResponse): Promise<void> {
  while (!response.destroyed && response.writableNeedDrain) {
    await new Promise<void>((resolve) => {
      const go = () => {
        response.off('drain', go);
        response.off('close', go);
        resolve();
      };
      response.on('drain', go);
      response.on('close', go);
    });
  }
}

function serverSentEvent(event: EventView): string {
  return `id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
}
