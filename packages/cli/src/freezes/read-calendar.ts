import { isTimeZone } from '@hoodcloud/domain/time-zone';
import { momentOf } from '@hoodcloud/domain/zone-time';
import ICAL from 'ical.js';
import { CliError } from '../cli-error.ts';
import type { Source } from '../imports/read-source.ts';
import { calendarEvents, type WholeEvent } from './calendar-events.ts';
import { calendarLines } from './calendar-lines.ts';
import { eventProblems } from './event-problems.ts';

/** One time that an event of a calendar takes place, in epoch milliseconds. */
export interface Occurrence {
  readonly uid: string;
  /** Tells the times of one event apart, by when each was to be at first; empty: the event does not repeat. */
  readonly key: string;
  readonly summary: string;
  readonly from: number;
  readonly to: number;
}

/** What of a calendar is wanted. Times are epoch milliseconds. */
export interface CalendarQuery {
  /** For times that name no zone; null: what the calendar says. */
  readonly timeZone: string | null;
  /** Only what ends after this. */
  readonly after: number;
  /** Only what begins before this. */
  readonly before: number;
  /** Only events whose summary or category has this text; null: all. */
  readonly matching: string | null;
}

/** A rule that repeats more often before it comes to `before` is cut off with an error. */
const MOST_REPETITIONS = 20_000;

/**
 * When the events of a calendar take place, repetitions one by one, those that are cancelled left out.
 * @throws CliError with every problem of the file by its line; then nothing of it may be used
 */
export function readCalendar({ name, text }: Source, query: CalendarQuery): Occurrence[] {
  const lines = calendarLines(text);
  const zone = query.timeZone ?? lines.zone;
  const problems = [...lines.problems, ...lines.events.flatMap((event) => eventProblems(event, lines, zone))];
  if (zone !== null && !isTimeZone(zone)) problems.push(`"${zone}" is no time zone; give an IANA name by --time-zone`);
  if (problems.length > 0) throw broken(name, problems);
  try {
    return inOrder(calendarEvents(text).flatMap((event) => occurrencesOf(event, query, zone ?? 'UTC')));
  } catch (error) {
    throw broken(name, [error instanceof Error ? error.message : String(error)], error);
  }
}

function inOrder(found: readonly Occurrence[]): Occurrence[] {
  return found.toSorted((one, other) => one.from - other.from || (one.uid < other.uid ? -1 : 1));
}

function broken(name: string, details: readonly string[], cause?: unknown): CliError {
  return new CliError(`${name} can't be read as a calendar; nothing was changed.`, { details, cause });
}

function occurrencesOf({ master, changed }: WholeEvent, query: CalendarQuery, zone: string): Occurrence[] {
  const event = new ICAL.Event(master, { exceptions: [...changed] });
  const repeats = event.isRecurring();
  const found: Occurrence[] = [];
  const add = (item: ICAL.Event, key: string, start: ICAL.Time, end: ICAL.Time) => {
    const summary = String(item.summary ?? '').trim() || 'no summary';
    const [from, to] = [momentIn(start, zone), momentIn(end, zone)];
    if (isCancelled(item.component) || !matches(item.component, summary, query.matching)) return;
    if (from < to && query.after < to && from < query.before) found.push({ uid: event.uid, key, summary, from, to });
  };
  if (!repeats) {
    const id = master.getFirstPropertyValue('recurrence-id');
    add(event, id === null ? '' : keyOf(String(id)), event.startDate, event.endDate);
    return found;
  }
  const times = event.iterator();
  for (let count = 0; ; count += 1) {
    const time = times.next();
    if (!time || momentIn(time, zone) >= query.before) return isCancelled(master) ? [] : found;
    if (count >= MOST_REPETITIONS) {
      throw new Error(`event ${event.uid} repeats more than ${MOST_REPETITIONS} times: end its rule by UNTIL or COUNT`);
    }
    const { item, startDate, endDate } = event.getOccurrenceDetails(time);
    add(item, keyOf(time.toString()), startDate, endDate);
  }
}

const keyOf = (time: string) => time.toLowerCase().replaceAll(/[^0-9tz]/g, '');

/** Whole days and times without a zone are meant in the zone of the calendar. */
function momentIn(time: ICAL.Time, zone: string): number {
  const named = !time.isDate && time.zone !== ICAL.Timezone.localTimezone && time.zone !== null;
  return named ? time.toUnixTime() * 1000 : momentOf(time.toString().slice(0, 19), zone);
}

function isCancelled(event: ICAL.Component): boolean {
  return String(event.getFirstPropertyValue('status') ?? '').toUpperCase() === 'CANCELLED';
}

function matches(event: ICAL.Component, summary: string, wanted: string | null): boolean {
  if (wanted === null) return true;
  const categories = event.getAllProperties('categories').flatMap((property) => property.getValues());
  return [summary, ...categories].some((text) => String(text).toLowerCase().includes(wanted.toLowerCase()));
}
