import type { Page } from '@hoodcloud/contracts/http/common';
import { type RawBuilder, sql } from 'kysely';
import { ProblemError } from './problem-error.ts';

/** Where a page ended: values of the columns that the list is ordered by. */
export type CursorValues = readonly (string | number)[];

/** Makes the opaque text that a client hands back for the next page. */
export function encodeCursor(values: CursorValues): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** What a value of a cursor must be, so that a forged one is refused here and not by the database. */
export type CursorKind = 'text' | 'uuid' | 'time' | 'number';

const FITS: Readonly<Record<CursorKind, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string' && !value.includes('\u0000'),
  uuid: (value) => typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value),
  time: (value) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\d[ T][\d:.]{8,15}(Z|[+-]\d\d(:?\d\d)?)$/.test(value) && isTime(value),
  number: (value) => Number.isSafeInteger(value),
};

/** Postgres writes the hours of an offset alone. */
function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text.replace(/([+-]\d\d)$/, '$1:00')));
}

/**
 * Reads a cursor of our own making.
 * @param kinds what it must hold
 * @throws ProblemError 400 when it is none of ours
 */
export function decodeCursor(cursor: string, kinds: readonly CursorKind[]): CursorValues {
  let values: unknown;
  try {
    values = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch (cause) {
    throw badCursor(cause);
  }
  const fits =
    Array.isArray(values) && values.length === kinds.length && kinds.every((kind, at) => FITS[kind](values[at]));
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

/**
 * SQL: a row of a list that goes newest first (`created_at` downwards, then `id`) comes after this cursor of it.
 * @throws as `decodeCursor`
 */
export function isAfterCursor(cursor: string): RawBuilder<boolean> {
  const [createdAt, id] = decodeCursor(cursor, ['time', 'uuid']);
  return sql<boolean>`(created_at < ${createdAt}::timestamptz
    or (created_at = ${createdAt}::timestamptz and id > ${id}::uuid))`;
}
