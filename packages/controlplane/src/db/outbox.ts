import type { Transaction } from 'kysely';
import type { Database } from './database.ts';
import type { Tables } from './generated/tables.ts';

/** What the three outboxes share: rows that leave a transaction, in the order of their ids (design: "one shape"). */
export interface Outbox<Row> {
  /** Locks up to `limit` due rows with FOR UPDATE SKIP LOCKED, so that any number of relays share the work. */
  claim(tx: Transaction<Tables>, limit: number): Promise<Row[]>;
  /** Rows of one address are delivered once per batch (B4). */
  addressOf(row: Row): string;
  /** Brings it out; throwing means not delivered. May happen again after a crash: the receiver must bear that. */
  deliver(row: Row): Promise<void>;
  /** The rows of one address are delivered: they must not be claimed again. */
  settle(tx: Transaction<Tables>, rows: readonly Row[]): Promise<void>;
  /** Not delivered: keep the rows with the error and say when to try again. */
  postpone(tx: Transaction<Tables>, rows: readonly Row[], error: Error): Promise<void>;
}

/**
 * Delivers one batch at least once. The claim's locks are held until every row is settled or postponed; when the process
 * dies in between, the database lets go of them and another relay delivers again.
 * @returns how many rows were claimed; 0 means nothing is due
 */
export async function deliverBatch<Row>(db: Database, outbox: Outbox<Row>, limit: number): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const rows = await outbox.claim(tx, limit);
    const outcomes = await Promise.all(
      [...groupByAddress(outbox, rows).values()].map(async (group) => ({ group, error: await attempt(outbox, group) })),
    );
    for (const { group, error } of outcomes) {
      if (error) await outbox.postpone(tx, group, error);
      else await outbox.settle(tx, group);
    }
    return rows.length;
  });
}

/** When to try for the `attempts`-th time again: doubling from 0.5 s, at most 30 s, and by a random part apart (B6). */
export function retryDelayMs(attempts: number, random: () => number = Math.random): number {
  const cap = Math.min(30_000, 500 * 2 ** Math.min(attempts, 10));
  return Math.round(cap * (0.5 + random() / 2));
}

function groupByAddress<Row>(outbox: Outbox<Row>, rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const address = outbox.addressOf(row);
    groups.set(address, [...(groups.get(address) ?? []), row]);
  }
  return groups;
}

async function attempt<Row>(outbox: Outbox<Row>, [first]: readonly Row[]): Promise<Error | null> {
  if (first === undefined) return null;
  try {
    await outbox.deliver(first);
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
