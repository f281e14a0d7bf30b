/** Which rows are drawn of how many: a screen holds a few, whatever the size of the fleet. */
export interface RowWindow {
  /** Index of the first row in sight. */
  readonly first: number;
  /** Rows in sight. */
  readonly height: number;
}

/** Moves the window by so many rows, never beyond an end of `count` rows. */
export function moveWindow({ first, height }: RowWindow, by: number, count: number): RowWindow {
  const last = Math.max(0, count - height);
  return { first: Math.min(last, Math.max(0, first + by)), height };
}

/** The rows in sight. */
export function inSight<Row>(rows: readonly Row[], { first, height }: RowWindow): readonly Row[] {
  return rows.slice(first, first + height);
}

/** `rows 11 to 30 of 10000`; empty when all are in sight. */
export function windowText({ first, height }: RowWindow, count: number): string {
  return count <= height ? '' : `rows ${first + 1} to ${Math.min(count, first + height)} of ${count}`;
}
