import { WEEKDAYS, type Weekday, type WeeklyWindow } from './weekly-window.ts';

const FORM = /^(?<days>[a-z,-]+) (?<from>([01]\d|2[0-3]):[0-5]\d)-(?<to>([01]\d|2[0-3]):[0-5]\d) (?<zone>\S+)$/;
const DAILY = 'daily';
const NAMES: readonly string[] = WEEKDAYS;

/** A window as people write it: `mon-fri 22:00-04:00 Europe/Berlin`; several times of one zone are joined by "and". */
export function weeklyWindowText({ time_zone, weekly, min_left_minutes = 0 }: WeeklyWindow): string {
  const times = weekly.map(({ days, from, to }) => `${daysText(days)} ${from}-${to}`);
  const left = min_left_minutes > 0 ? `, to the last ${min_left_minutes} min` : '';
  return `${times.join(' and ')} ${time_zone}${left}`;
}

/**
 * The window that `mon-fri 22:00-04:00 Europe/Berlin` says; days are `daily`, or names and ranges with commas. The name of the
 * zone is taken as it is. Null: it is not written so.
 */
export function parseWeeklyWindow(text: string): WeeklyWindow | null {
  const { days: named = '', from = '', to = '', zone = '' } = FORM.exec(text.trim().replace(/\s+/g, ' '))?.groups ?? {};
  const days = named === DAILY ? WEEKDAYS : named.split(',').map(daysOfRange);
  const chosen = WEEKDAYS.filter((day) => days.flat().includes(day));
  if (days.some((part) => part === null) || chosen.length === 0) return null;
  return { time_zone: zone, weekly: [{ days: chosen, from, to }] };
}

/** `fri-mon` goes over the end of the week; null: no such days. */
function daysOfRange(range: string): readonly Weekday[] | null {
  const [first = '', last = first, ...more] = range.split('-');
  const from = NAMES.indexOf(first);
  const to = NAMES.indexOf(last);
  if (from < 0 || to < 0 || more.length > 0) return null;
  return WEEKDAYS.filter((_, day) => (from <= to ? from <= day && day <= to : from <= day || day <= to));
}

function daysText(days: readonly Weekday[]): string {
  const runs: Weekday[][] = [];
  for (const day of WEEKDAYS.filter((one) => days.includes(one))) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run && last && WEEKDAYS.indexOf(day) === WEEKDAYS.indexOf(last) + 1) run.push(day);
    else runs.push([day]);
  }
  if (runs[0]?.length === WEEKDAYS.length) return DAILY;
  return runs.map((run) => (run.length < 3 ? run.join(',') : `${run[0]}-${run.at(-1)}`)).join(',');
}
