import type { Page } from '@hoodcloud/contracts/http/common';
import { ProblemError } from './problem-error.ts';

/** Where a page ended: values of the columns that the list is ordered by. */
export type CursorValues = readonly (string | number)[];

/** Makes the opaque text that a client hands back for the next page. */
export function encodeCursor(values: CursorValues): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/**
 * Reads a cursor of our own making.
 * @param count how many values it must hold
 * @throws ProblemError 400 when it is none of ours
 */
export function decodeCursor(cursor: string, count: number): CursorValues {
  let values: unknown;
  try {
    values = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch (cause) {
    throw badCursor(cause);
  }
  const fits =
    Array.isArray(values) &&
    values.length === count &&
    values.every((value) => typeof value === 'string' || typeof value === 'number');
  if (!fits) throw badCursor(values);
  return values as CursorValues;
}

function badCursor(cause: unknown): ProblemError {
  const errors = [{ field: 'querystring.cursor', code: 'invalid', message: 'take next_cursor of the page before' }];
  return new ProblemError(400, 'invalid_cursor', 'The cursor is not one of this list.', { errors, cause });
}

/** Cuts a page from rows that were asked for with one more than `limit`. */
export function toPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
  cursorOf: (row: Row) => CursorValues,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items: shown.map(toItem), next_cursor: more ? encodeCursor(cursorOf(last)) : null };
}
