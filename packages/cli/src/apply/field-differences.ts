/** One field that differs; undefined: it is not there. */
export interface FieldDifference {
  /** `weekly.0.from`. */
  readonly field: string;
  readonly is: unknown;
  readonly wanted: unknown;
}

/**
 * Every field in which what is differs from what is wanted, by path, in their order.
 * @param only `wanted`: fields that are not asked for may be anything
 */
export function fieldDifferences(
  is: unknown,
  wanted: unknown,
  only: 'wanted' | 'both' = 'both',
  at = '',
): FieldDifference[] {
  if (isFields(is) && isFields(wanted)) {
    const names = only === 'wanted' ? Object.keys(wanted) : [...new Set([...Object.keys(is), ...Object.keys(wanted)])];
    return names.flatMap((name) => fieldDifferences(is[name], wanted[name], only, at === '' ? name : `${at}.${name}`));
  }
  return JSON.stringify(is) === JSON.stringify(wanted) ? [] : [{ field: at, is, wanted }];
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** The differences as lines: `- field: what is`, `+ field: what is wanted`. */
export function differenceLines(differences: readonly FieldDifference[]): string[] {
  return differences.flatMap(({ field, is, wanted }) => [
    ...(is === undefined ? [] : [`    - ${field}: ${JSON.stringify(is)}`]),
    ...(wanted === undefined ? [] : [`    + ${field}: ${JSON.stringify(wanted)}`]),
  ]);
}
