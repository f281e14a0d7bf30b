/** `90 s` as `1 min 30 s`; hours and days likewise, two units at most. */
export function renderDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return two(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  if (seconds < 86_400) return two(Math.floor(seconds / 3600), 'h', Math.floor((seconds % 3600) / 60), 'min');
  return two(Math.floor(seconds / 86_400), 'd', Math.floor((seconds % 86_400) / 3600), 'h');
}

/** How long ago an RFC 3339 time was; `-` for none. */
export function renderAge(time: string | null | undefined, now: Date): string {
  return time ? `${renderDuration(now.getTime() - Date.parse(time))} ago` : '-';
}

/** The clock time of an RFC 3339 time in UTC, `08:14:03`. */
export function renderClock(time: string): string {
  return new Date(time).toISOString().slice(11, 19);
}

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}
