import { type RawBuilder, sql } from 'kysely';

/** A value for a jsonb column. Needed because the driver would send an array as a Postgres array. */
export function json(value: unknown): RawBuilder<unknown> {
  return sql`${JSON.stringify(value)}::jsonb`;
}
