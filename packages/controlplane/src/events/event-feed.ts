import type { EventView } from '@hoodcloud/contracts/http/events';
import type { Database } from '../db/database.ts';
import type { Notifications } from '../db/notifications.ts';
import { type EventFilter, eventsAfter, newestSeq, type PublishedEvent } from './event-read-model.ts';
import { EVENTS_PUBLISHED } from './event-relay.ts';

/** Looked at anyway, should a notification be missed. */
const POLL_MS = 5_000;
/** So many are kept: who is further behind reads from the database until it has caught up. */
const KEPT = 2_000;
const BATCH = 1_000;

export interface FeedParts {
  readonly db: Database;
  readonly notifications: Pick<Notifications, 'listen'>;
}

/** What follows a cursor, and the cursor after it. */
export interface FeedPage {
  readonly items: readonly EventView[];
  readonly nextAfter: number;
}

/**
 * The newest published events, read once for everybody who follows them: a hundred open pages cost the database what one
 * does. Reads only while somebody follows. Numbers are published in order (C11), so what follows a number that is in
 * memory is in memory too.
 */
export class EventFeed {
  readonly #parts: FeedParts;
  readonly #followers = new Set<Follower>();
  #opened: Promise<OpenFeed> | null = null;

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /** Begins to follow; `stop` it in the end. @throws when the database can't be asked */
  async follow(): Promise<Follower> {
    const follower = new Follower((left) => void this.#leave(left));
    this.#followers.add(follower);
    this.#opened ??= OpenFeed.open(this.#parts, {
      news: () => {
        for (const one of this.#followers) one.wake(null);
      },
      failed: (error) => this.#fail(error),
    });
    try {
      follower.feed = await this.#opened;
      return follower;
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  /** Whoever follows is told and comes back with its last number: nothing is lost by it. */
  #fail(error: unknown): void {
    const followers = [...this.#followers];
    this.#followers.clear();
    this.#close();
    for (const one of followers) one.wake(error);
  }

  #leave(follower: Follower): void {
    this.#followers.delete(follower);
    if (this.#followers.size === 0) this.#close();
  }

  #close(): void {
    this.#opened?.then((feed) => feed.close()).catch(() => undefined); // one that never opened has nothing to close
    this.#opened = null;
  }
}

/** One who follows, at its own pace. */
export class Follower {
  feed: OpenFeed | null = null;
  readonly #leave: (follower: Follower) => void;
  #error: unknown = null;
  #woken = false;
  #wake: () => void = () => undefined;

  constructor(leave: (follower: Follower) => void) {
    this.#leave = leave;
  }

  /** What comes after a number; from memory, unless it is too long ago. */
  page(after: number, limit: number, only: EventFilter): FeedPage | null {
    return this.feed?.page(after, limit, only) ?? null;
  }

  /** All after this number is in memory. */
  get reach(): number {
    return this.feed?.reach ?? 0;
  }

  /** There is news, or an end. */
  readonly wake = (error: unknown): void => {
    this.#error ??= error;
    this.#woken = true;
    this.#wake();
  };

  /** Until there is news since the last time this was asked. @throws what ended the feed */
  async news(): Promise<void> {
    if (!this.#woken) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#woken = false;
    if (this.#error !== null) throw this.#error;
  }

  stop(): void {
    this.#leave(this);
  }
}

interface FeedTidings {
  readonly news: () => void;
  /** It reads no more. */
  readonly failed: (error: unknown) => void;
}

/** The feed while somebody follows it. */
export class OpenFeed {
  readonly #db: Database;
  readonly #tell: FeedTidings;
  readonly #recent: PublishedEvent[] = [];
  /** All after this number, up to the newest, are in memory. */
  #from: number;
  #newest: number;
  #stopListening: () => void = () => undefined;
  #poll: NodeJS.Timeout | undefined;
  #reading = false;
  #again = false;
  #closed = false;

  private constructor(db: Database, newest: number, tell: FeedTidings) {
    this.#db = db;
    this.#from = newest;
    this.#newest = newest;
    this.#tell = tell;
  }

  static async open({ db, notifications }: FeedParts, tell: FeedTidings): Promise<OpenFeed> {
    const feed = new OpenFeed(db, await newestSeq(db), tell);
    feed.#stopListening = await notifications.listen(EVENTS_PUBLISHED, () => feed.#look());
    feed.#poll = setInterval(() => feed.#look(), POLL_MS);
    feed.#look(); // what came between the number and the listening
    return feed;
  }

  get reach(): number {
    return this.#from;
  }

  /** Null: that is further back than memory reaches. */
  page(after: number, limit: number, only: EventFilter): FeedPage | null {
    if (after < this.#from) return null;
    const items: EventView[] = [];
    for (const { view, groupId } of this.#recent) {
      if (view.seq <= after || !isWanted(view, groupId, only)) continue;
      items.push(view);
      if (items.length === limit) return { items, nextAfter: view.seq };
    }
    return { items, nextAfter: Math.max(after, this.#newest) };
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#poll);
    this.#stopListening();
  }

  /** One look at a time; news that comes meanwhile is looked at afterwards. */
  #look(): void {
    this.#again = true;
    if (this.#reading || this.#closed) return;
    this.#reading = true;
    this.#read()
      .catch((error: unknown) => {
        if (!this.#closed) this.#tell.failed(error);
      })
      .finally(() => {
        this.#reading = false;
      });
  }

  async #read(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      const events = await eventsAfter(this.#db, this.#newest, BATCH);
      if (events.length === 0) continue;
      this.#recent.push(...events);
      this.#newest = events.at(-1)?.view.seq ?? this.#newest;
      this.#forget();
      if (events.length === BATCH) this.#again = true;
      this.#tell.news();
    }
  }

  #forget(): void {
    const gone = this.#recent.splice(0, Math.max(0, this.#recent.length - KEPT));
    this.#from = gone.at(-1)?.view.seq ?? this.#from;
  }
}

/** As `listEvents` selects. */
function isWanted(view: EventView, group: string | null, { rolloutId, groupId, nodeId }: EventFilter): boolean {
  if (rolloutId && view.rollout_id !== rolloutId) return false;
  if (groupId && group !== groupId) return false;
  return !nodeId || view.node_id === nodeId;
}
