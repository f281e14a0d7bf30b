import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openingsAround, WEEKDAYS, type WeeklyWindow, windowState } from './weekly-window.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const daily = (time_zone: string, from: string, to: string): WeeklyWindow => ({
  time_zone,
  weekly: [{ days: WEEKDAYS, from, to }],
});

/** The openings that begin on a calendar day of the zone: month, day, hour and minute in UTC, and how long. */
function openings(window: WeeklyWindow, day: string): string[] {
  const text = (ms: number) => new Date(ms).toISOString().slice(5, 16);
  return openingsAround(window, Date.parse(`${day}T12:00:00Z`))
    .filter(({ from }) => clockOf(window.time_zone)(from).startsWith(day))
    .map(({ from, to }) => `${text(from)} ${text(to)} ${(to - from) / MINUTE} min`);
}

describe('windows on the days when the clock changes', () => {
  test.each([
    // Europe/Berlin 2026-03-29: 02:00 CET becomes 03:00 CEST at 01:00Z
    ['Europe/Berlin', '2026-03-29 00:30 01:30', '03-28T23:30 03-29T00:30 60 min', 'before the jump'],
    ['Europe/Berlin', '2026-03-29 01:00 04:00', '03-29T00:00 03-29T02:00 120 min', 'over the jump'],
    ['Europe/Berlin', '2026-03-29 02:30 04:00', '03-29T01:00 03-29T02:00 60 min', 'begins in the skipped hour'],
    ['Europe/Berlin', '2026-03-29 01:00 02:30', '03-29T00:00 03-29T01:00 60 min', 'ends in the skipped hour'],
    ['Europe/Berlin', '2026-03-29 02:15 02:45', 'none', 'wholly in the skipped hour'],
    // Europe/Berlin 2026-10-25: 03:00 CEST becomes 02:00 CET at 01:00Z
    ['Europe/Berlin', '2026-10-25 01:00 04:00', '10-24T23:00 10-25T03:00 240 min', 'over the repeated hour'],
    ['Europe/Berlin', '2026-10-25 02:30 04:00', '10-25T00:30 10-25T03:00 150 min', 'begins in the repeated hour'],
    ['Europe/Berlin', '2026-10-25 01:00 02:30', '10-24T23:00 10-25T00:30 90 min', 'ends in the repeated hour'],
    ['Europe/Berlin', '2026-10-25 02:15 02:45', '10-25T00:15 10-25T00:45 30 min', 'wholly in the repeated hour'],
    ['Europe/Berlin', '2026-03-28 22:00 02:00', '03-28T21:00 03-29T01:00 240 min', 'over midnight into the jump'],
    // America/New_York 2026-03-08: 02:00 EST becomes 03:00 EDT at 07:00Z
    ['America/New_York', '2026-03-08 01:00 04:00', '03-08T06:00 03-08T08:00 120 min', 'over the jump'],
    ['America/New_York', '2026-03-08 02:30 04:00', '03-08T07:00 03-08T08:00 60 min', 'begins in the skipped hour'],
    ['America/New_York', '2026-03-08 01:00 02:30', '03-08T06:00 03-08T07:00 60 min', 'ends in the skipped hour'],
    // America/New_York 2026-11-01: 02:00 EDT becomes 01:00 EST at 06:00Z
    ['America/New_York', '2026-11-01 00:00 03:00', '11-01T04:00 11-01T08:00 240 min', 'over the repeated hour'],
    ['America/New_York', '2026-11-01 01:30 03:00', '11-01T05:30 11-01T08:00 150 min', 'begins in the repeated hour'],
    ['America/New_York', '2026-11-01 00:00 01:30', '11-01T04:00 11-01T05:30 90 min', 'ends in the repeated hour'],
    // Australia/Lord_Howe 2026-10-04: 02:00 +10:30 becomes 02:30 +11:00 at 15:30Z of the day before
    [
      'Australia/Lord_Howe',
      '2026-10-04 01:00 04:00',
      '10-03T14:30 10-03T17:00 150 min',
      'over the jump of half an hour',
    ],
    [
      'Australia/Lord_Howe',
      '2026-10-04 02:15 04:00',
      '10-03T15:30 10-03T17:00 90 min',
      'begins in the skipped half hour',
    ],
    // Australia/Lord_Howe 2026-04-05: 02:00 +11:00 becomes 01:30 +10:30 at 15:00Z of the day before
    ['Australia/Lord_Howe', '2026-04-05 01:00 04:00', '04-04T14:00 04-04T17:30 210 min', 'over the repeated half hour'],
    [
      'Australia/Lord_Howe',
      '2026-04-05 01:00 01:45',
      '04-04T14:00 04-04T14:45 45 min',
      'ends in the repeated half hour',
    ],
    [
      'Australia/Lord_Howe',
      '2026-04-05 01:45 04:00',
      '04-04T14:45 04-04T17:30 165 min',
      'begins in the repeated half hour',
    ],
  ])('%s %s: %s (%s)', (zone, time, expected) => {
    const [day = '', from = '', to = ''] = time.split(' ');
    expect(openings(daily(zone, from, to), day)).toEqual(expected === 'none' ? [] : [expected]);
  });

  test('a calendar day that a zone left out has no window', () => {
    expect(openings(daily('Pacific/Apia', '10:00', '12:00'), '2011-12-30')).toEqual([]);
  });
});

describe('how a window stands', () => {
  const weekend: WeeklyWindow = { time_zone: 'UTC', weekly: [{ days: ['sun'], from: '22:00', to: '04:00' }] };
  const at = (text: string) => Date.parse(text);

  test('it runs over midnight and over the end of the week, and closes at its last minute', () => {
    const monday = at('2026-06-08T03:59:59Z');
    const opensAt = at('2026-06-14T22:00:00Z');
    expect(windowState([weekend], monday)).toEqual({ open: true, closesAt: at('2026-06-08T04:00:00Z'), opensAt });
    expect(windowState([weekend], at('2026-06-08T04:00:00Z'))).toEqual({ open: false, closesAt: null, opensAt });
  });

  test('windows that touch are one, and a week without a gap never closes', () => {
    expect(windowState([daily('Asia/Kolkata', '00:00', '00:00')], at('2026-06-08T03:00:00Z'))).toEqual({
      open: true,
      closesAt: null,
      opensAt: null,
    });
    const halves = [daily('UTC', '10:00', '11:00'), daily('UTC', '11:00', '12:00')];
    expect(windowState(halves, at('2026-06-08T10:30:00Z')).closesAt).toBe(at('2026-06-08T12:00:00Z'));
  });

  test('with a least time left nothing starts in the last minutes', () => {
    const window = { ...daily('UTC', '10:00', '12:00'), min_left_minutes: 30 };
    expect(windowState([window], at('2026-06-08T11:29:59Z'))).toMatchObject({
      open: true,
      closesAt: at('2026-06-08T11:30:00Z'),
    });
    expect(windowState([window], at('2026-06-08T11:30:00Z'))).toMatchObject({
      open: false,
      opensAt: at('2026-06-09T10:00:00Z'),
    });
  });
});

/** Calendar and clock of a zone as the platform shows them, minute by minute: knows nothing of offsets and changes. */
function clockOf(timeZone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  return (ms) => format.format(ms);
}

const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/St_Johns',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'America/Santiago',
  'Africa/Casablanca',
  'Pacific/Chatham',
  'Australia/Adelaide',
  'Asia/Tokyo',
  'UTC',
];
const clockTime = fc.integer({ min: 0, max: 95 }).map((quarter) => {
  const two = (part: number) => String(part).padStart(2, '0');
  return `${two(Math.floor(quarter / 4))}:${two((quarter % 4) * 15)}`;
});
const aWindow = fc.record({
  time_zone: fc.constantFrom(...ZONES),
  weekly: fc.array(
    fc.record({ days: fc.uniqueArray(fc.constantFrom(...WEEKDAYS), { minLength: 1 }), from: clockTime, to: clockTime }),
    { minLength: 1, maxLength: 3 },
  ),
});

const midnight = (date: string) => Date.parse(`${date}T00:00:00Z`);
const dateAfter = (date: string, days: number) => new Date(midnight(date) + days * DAY).toISOString().slice(0, 10);

/** The same question by looking at every quarter of an hour of three days: opens and closes when the clock first shows it. */
function openByLooking({ time_zone, weekly }: WeeklyWindow, from: number, to: number): (ms: number) => boolean {
  const clock = clockOf(time_zone);
  const seen: { ms: number; shows: string }[] = [];
  for (let ms = from - 2 * DAY; ms <= to + 2 * DAY; ms += 15 * MINUTE) seen.push({ ms, shows: clock(ms) });
  const first = (wanted: string) => seen.find(({ shows }) => shows >= wanted)?.ms ?? Number.POSITIVE_INFINITY;
  const dates = [...new Set(seen.map(({ shows }) => shows.slice(0, 10)))].slice(1);
  const spans = dates.flatMap((date) => {
    const day = WEEKDAYS[(new Date(midnight(date)).getUTCDay() + 6) % 7];
    return weekly
      .filter(({ days }) => day !== undefined && days.includes(day))
      .map((one) => ({
        from: first(`${date} ${one.from}`),
        to: first(`${one.to > one.from ? date : dateAfter(date, 1)} ${one.to}`),
      }));
  });
  return (ms) => spans.some((span) => span.from <= ms && ms < span.to);
}

test('the state is what one sees who looks at the clock of the zone all the time, at any time of any year', () => {
  const somewhen = fc.integer({ min: 0, max: 365 * 20 }).map((day) => Date.parse('2015-01-01T00:00:00Z') + day * DAY);
  // Half of the runs are near a change of the clock, where mistakes are.
  const changes = fc
    .constantFrom(
      '2026-03-29',
      '2026-10-25',
      '2026-03-08',
      '2026-11-01',
      '2026-04-05',
      '2026-10-04',
      '2026-09-06',
      '2026-02-15',
      '2026-03-22',
    )
    .map((day) => Date.parse(`${day}T00:00:00Z`) - DAY);
  fc.assert(
    fc.property(aWindow, fc.oneof(somewhen, changes), (window, from) => {
      const to = from + 3 * DAY;
      const looked = openByLooking(window, from, to);
      for (let ms = from; ms <= to; ms += 255 * MINUTE) {
        const { open, closesAt, opensAt } = windowState([window], ms);
        expect(open, new Date(ms).toISOString()).toBe(looked(ms));
        const turns = open ? closesAt : opensAt;
        if (turns === null || turns > to) continue;
        expect(looked(turns), `turns at ${new Date(turns).toISOString()}`).toBe(!open);
        for (let between = ms; between < turns; between += 15 * MINUTE) expect(looked(between)).toBe(open);
      }
    }),
    { numRuns: 50 },
  );
});
