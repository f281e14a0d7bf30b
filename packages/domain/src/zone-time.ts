import { Temporal } from 'temporal-polyfill';
import { isoTime } from './iso-time.ts';
import { firstMoment } from './weekly-window.ts';

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/**
 * A moment as the people of a zone say it, and in UTC: `Tue 2026-12-01 22:00 Europe/Berlin (2026-12-01T21:00:00.000Z)`.
 * @param ms epoch milliseconds
 */
export function zoneTime(ms: number, timeZone: string): string {
  const there = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
  const clock = there.toPlainTime().toString({ smallestUnit: 'minute' });
  return `${DAYS[there.dayOfWeek - 1]} ${there.toPlainDate().toString()} ${clock} ${timeZone} (${isoTime(ms)})`;
}

/**
 * As `firstMoment`, of a clock time that is written `2026-12-24T08:00:00`; a date alone is its midnight.
 * @returns epoch milliseconds
 */
export function momentOf(clock: string, timeZone: string): number {
  return firstMoment(Temporal.PlainDateTime.from(clock), timeZone);
}
