import { Temporal } from 'temporal-polyfill';

/** As the days of the week are written, the first of ISO 8601 first. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** Times of the week, by the clock of a time zone, in which nodes may be started. */
export interface WeeklyWindow {
  /** IANA name, such as Europe/Berlin. */
  readonly time_zone: string;
  readonly weekly: readonly {
    readonly days: readonly Weekday[];
    /** Time of day, `22:00`. */
    readonly from: string;
    /** Time of day; not after `from`: on the next day. */
    readonly to: string;
  }[];
  /** Nothing starts when less than so much is left of the window; 0 or left out: up to its last moment. */
  readonly min_left_minutes?: number | undefined;
}

/** A time in which something may start, in epoch milliseconds; `to` is outside. */
export interface Opening {
  readonly from: number;
  readonly to: number;
}

/** How a window stands at a moment. Times are epoch milliseconds. */
export interface WindowState {
  /** Whether something may start. */
  readonly open: boolean;
  /** When nothing starts any more; null: closed now, or it never closes. */
  readonly closesAt: number | null;
  /** When it opens next, of an open one after it has closed; null: never. */
  readonly opensAt: number | null;
}

/** Every weekly time opens within so many days: one of them may be jumped over by the clock. */
const DAYS_AHEAD = 15;
/** The longest opening begins on the day before; a day more for zones that are far from each other. */
const DAYS_BACK = 2;
const MINUTE_MS = 60_000;
/** An opening that lasts longer than what is looked at is one without end. */
const NEVER_CLOSES_MS = (DAYS_AHEAD - 2) * 24 * 60 * MINUTE_MS;

/**
 * The first moment at which calendar and clock of a zone show a time, or a later one. So a time that the clock jumps over
 * in spring is the moment of the jump, and of a time that comes twice in autumn the first one counts.
 */
export function firstMoment(clock: Temporal.PlainDateTime, timeZone: string): number {
  const shown = clock.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (shown.toPlainDateTime().equals(clock)) return shown.epochMilliseconds;
  const jump = shown.getTimeZoneTransition('next');
  return (jump ?? shown).epochMilliseconds;
}

/** Openings in the order in which they begin, those that touch put together. */
function merged(openings: readonly Opening[]): Opening[] {
  const whole: Opening[] = [];
  for (const next of openings.toSorted((a, b) => a.from - b.from)) {
    const last = whole.at(-1);
    if (last !== undefined && next.from <= last.to) {
      whole[whole.length - 1] = { from: last.from, to: Math.max(last.to, next.to) };
    } else whole.push(next);
  }
  return whole;
}

const isSome = ({ from, to }: Opening): boolean => from < to;

function openingsOn(date: Temporal.PlainDate, { time_zone, weekly }: WeeklyWindow): Opening[] {
  const day = WEEKDAYS[date.dayOfWeek - 1];
  return weekly
    .filter(({ days }) => day !== undefined && days.includes(day))
    .map(({ from, to }) => ({
      from: firstMoment(date.toPlainDateTime(from), time_zone),
      to: firstMoment(date.add({ days: to > from ? 0 : 1 }).toPlainDateTime(to), time_zone),
    }))
    .filter(isSome);
}

/** When something may start around a moment: from two days before to two weeks after it. */
export function openingsAround(window: WeeklyWindow, now: number): Opening[] {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(window.time_zone).toPlainDate();
  const days = Array.from({ length: DAYS_BACK + DAYS_AHEAD + 1 }, (_, day) => today.add({ days: day - DAYS_BACK }));
  const minLeft = (window.min_left_minutes ?? 0) * MINUTE_MS;
  const whole = merged(days.flatMap((date) => openingsOn(date, window)));
  return whole.map(({ from, to }) => ({ from, to: to - minLeft })).filter(isSome);
}

/**
 * How some windows stand at a moment; one of them open is enough.
 * @param now epoch milliseconds
 */
export function windowState(windows: readonly WeeklyWindow[], now: number): WindowState {
  const openings = merged(windows.flatMap((window) => openingsAround(window, now)));
  const current = openings.find(({ from, to }) => from <= now && now < to);
  const next = openings.find(({ from }) => from > now);
  const closesAt = current === undefined || current.to > now + NEVER_CLOSES_MS ? null : current.to;
  return { open: current !== undefined, closesAt, opensAt: next?.from ?? null };
}
