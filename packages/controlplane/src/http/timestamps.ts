/** RFC 3339 in UTC. */
export function timestamp(date: Date): string {
  return date.toISOString();
}

/** The same of what may be absent. */
export function timestampOrNull(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}
