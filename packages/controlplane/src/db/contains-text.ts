import { sql } from 'kysely';

/** Whether a column, e.g. `n.name`, holds `part` somewhere, in any case; `%` and `_` mean themselves. */
export function containsText(column: string, part: string) {
  return sql<boolean>`position(lower(${part}) in lower(${sql.ref(column)})) > 0`;
}
