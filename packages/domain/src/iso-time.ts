/** RFC 3339 in UTC, as times are written everywhere people read them (C10c). `ms` is epoch milliseconds. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
