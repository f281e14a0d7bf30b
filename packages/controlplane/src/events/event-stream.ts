import type { ServerResponse } from 'node:http';
import type { EventView } from '@hoodcloud/contracts/http/events';
import type { Database } from '../db/database.ts';
import type { EventFeed, FeedPage, Follower } from './event-feed.ts';
import { type EventFilter, listEvents } from './event-read-model.ts';

/** A comment now and then keeps proxies from closing a quiet stream. */
const KEEP_ALIVE_MS = 15_000;
const BATCH = 200;

export interface EventStreamOptions extends EventFilter {
  readonly after: number;
}

/**
 * Writes events as server-sent events until the client goes away: first what is stored after `after`, then what comes.
 * `id:` is the event's number, so a client that lost the stream continues with Last-Event-ID and misses nothing.
 */
export async function streamEvents(
  response: ServerResponse,
  { db, feed }: { readonly db: Database; readonly feed: EventFeed },
  { after, ...only }: EventStreamOptions,
): Promise<void> {
  const keepAlive = setInterval(() => response.write(': alive\n\n'), KEEP_ALIVE_MS);
  let follower: Follower | null = null;
  try {
    follower = await feed.follow();
    const { wake } = follower;
    response.on('close', () => wake(null));
    let cursor = after;
    while (!response.destroyed) {
      const recent = follower.page(cursor, BATCH, only);
      const { items, nextAfter } = recent ?? (await stored(db, cursor, only, follower.reach));
      if (items.length > 0 && !response.write(items.map(serverSentEvent).join(''))) await drained(response);
      cursor = nextAfter;
      if (recent !== null && items.length < BATCH && !response.destroyed) await follower.news();
    }
  } finally {
    clearInterval(keepAlive);
    follower?.stop();
    response.end();
  }
}

/**
 * Of who is further behind than memory reaches.
 * @param reach all after this number is in memory: who has read everything before goes on there
 */
async function stored(db: Database, after: number, only: EventFilter, reach: number): Promise<FeedPage> {
  const { items, next_after: next } = await listEvents(db, { after, limit: BATCH, ...only });
  return { items, nextAfter: items.length < BATCH ? Math.max(next, reach) : next };
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

/** Texts of events that many follow: the feed gives all of them the same object. */
const texts = new WeakMap<EventView, string>();

function serverSentEvent(event: EventView): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const text = `id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
  texts.set(event, text);
  return text;
}
