import { describe, expect, test } from 'vitest';
import { CliError } from '../cli-error.ts';
import { readCalendar } from './read-calendar.ts';

const QUERY = {
  timeZone: null,
  after: Date.parse('2026-01-01T00:00:00Z'),
  before: Date.parse('2027-01-01T00:00:00Z'),
  matching: null,
};
const calendar = (...lines: string[]) => ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n');
const event = (...lines: string[]) => calendar('BEGIN:VEVENT', 'UID:one', ...lines, 'END:VEVENT');

function read(text: string, query: Partial<typeof QUERY> | { timeZone: string } | { matching: string } = {}): string[] {
  return readCalendar({ name: 'a.ics', text }, { ...QUERY, ...query }).map(({ key, from, to }) =>
    [key, new Date(from).toISOString().slice(5, 16), new Date(to).toISOString().slice(5, 16)].join(' ').trim(),
  );
}

function problems(text: string): readonly string[] {
  try {
    read(text);
  } catch (error) {
    if (error instanceof CliError) return error.details;
    throw error;
  }
  throw new Error('it was read');
}

/** Outlook's zone of Berlin, by a name that IANA does not have. */
const OUTLOOK_ZONE = [
  'BEGIN:VTIMEZONE',
  'TZID:W. Europe Standard Time',
  'BEGIN:STANDARD',
  'DTSTART:16010101T030000',
  'TZOFFSETFROM:+0200',
  'TZOFFSETTO:+0100',
  'RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10',
  'END:STANDARD',
  'BEGIN:DAYLIGHT',
  'DTSTART:16010101T020000',
  'TZOFFSETFROM:+0100',
  'TZOFFSETTO:+0200',
  'RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3',
  'END:DAYLIGHT',
  'END:VTIMEZONE',
];

describe('when the events of a calendar take place', () => {
  test('in UTC, in a zone of IANA without VTIMEZONE, by a length', () => {
    expect(read(event('DTSTART:20260601T080000Z', 'DTEND:20260601T100000Z'))).toEqual(['06-01T08:00 06-01T10:00']);
    const berlin = event('DTSTART;TZID=Europe/Berlin:20260601T080000', 'DURATION:PT2H');
    expect(read(berlin)).toEqual(['06-01T06:00 06-01T08:00']);
  });

  test('by the VTIMEZONE of the calendar where its name is not of IANA, before and after the change of the clock', () => {
    const times = [
      'DTSTART;TZID=W. Europe Standard Time:20260327T080000',
      'DTEND;TZID=W. Europe Standard Time:20260327T090000',
    ];
    const text = calendar(
      ...OUTLOOK_ZONE,
      'BEGIN:VEVENT',
      'UID:one',
      ...times,
      'RRULE:FREQ=DAILY;COUNT=4',
      'END:VEVENT',
    );
    expect(read(text).map((line) => line.split(' ')[1])).toEqual([
      '03-27T07:00',
      '03-28T07:00',
      '03-29T06:00',
      '03-30T06:00',
    ]);
  });

  test('whole days and times without a zone, in the zone of the calendar or the one that is given', () => {
    const days = ['DTSTART;VALUE=DATE:20261224', 'DTEND;VALUE=DATE:20261227'];
    expect(read(event(...days).replace('VERSION:2.0', 'X-WR-TIMEZONE:Europe/Berlin'))).toEqual([
      '12-23T23:00 12-26T23:00',
    ]);
    expect(read(event(...days), { timeZone: 'Asia/Tokyo' })).toEqual(['12-23T15:00 12-26T15:00']);
    expect(read(event('DTSTART;VALUE=DATE:20261224'), { timeZone: 'UTC' })).toEqual(['12-24T00:00 12-25T00:00']);
    expect(read(event('DTSTART:20261224T080000', 'DURATION:PT1H'), { timeZone: 'Asia/Tokyo' })).toEqual([
      '12-23T23:00 12-24T00:00',
    ]);
  });

  test('a rule by the clock of its zone, within the bound, without what is left out, moved or cancelled', () => {
    const text = calendar(
      'BEGIN:VEVENT',
      'UID:weekly',
      'SUMMARY:payout',
      'DTSTART;TZID=Europe/Berlin:20261005T090000',
      'DURATION:PT1H',
      'RRULE:FREQ=WEEKLY',
      'EXDATE:20261012T070000Z',
      'END:VEVENT',
      'BEGIN:VEVENT',
      'UID:weekly',
      'RECURRENCE-ID;TZID=Europe/Berlin:20261019T090000',
      'SUMMARY:payout',
      'DTSTART;TZID=Europe/Berlin:20261020T090000',
      'DURATION:PT2H',
      'END:VEVENT',
      'BEGIN:VEVENT',
      'UID:weekly',
      'RECURRENCE-ID;TZID=Europe/Berlin:20261026T090000',
      'STATUS:CANCELLED',
      'DTSTART;TZID=Europe/Berlin:20261026T090000',
      'DURATION:PT1H',
      'END:VEVENT',
    );
    expect(read(text, { before: Date.parse('2026-11-10T00:00:00Z') })).toEqual([
      '20261005t090000 10-05T07:00 10-05T08:00',
      '20261019t090000 10-20T07:00 10-20T09:00',
      '20261102t090000 11-02T08:00 11-02T09:00',
      '20261109t090000 11-09T08:00 11-09T09:00',
    ]);
  });

  test('not at all when it is cancelled, over, or of another summary and category', () => {
    const times = ['DTSTART:20260601T080000Z', 'DTEND:20260601T100000Z'];
    expect(read(event(...times, 'STATUS:CANCELLED'))).toEqual([]);
    expect(read(event('DTSTART:20250601T080000Z', 'DTEND:20250601T100000Z'))).toEqual([]);
    const party = event(...times, 'SUMMARY:Summer party', 'CATEGORIES:fun,Freeze');
    expect(read(party, { matching: 'freeze' })).toHaveLength(1);
    expect(read(party, { matching: 'payout' })).toEqual([]);
  });

  test('of two that say the same, by the later one; of two calendars in a file, both; folded lines and quotes too', () => {
    const of = (start: string, ...more: string[]) => [
      'BEGIN:VEVENT',
      'UID:one',
      `DTSTART:${start}`,
      'DURATION:PT1H',
      ...more,
      'END:VEVENT',
    ];
    expect(read(calendar(...of('20260602T080000Z', 'SEQUENCE:2'), ...of('20260601T080000Z')))).toEqual([
      '06-02T08:00 06-02T09:00',
    ]);
    const two = calendar(...of('20260601T080000Z')) + calendar(...of('20260603T080000Z')).replace('UID:one', 'UID:two');
    expect(read(two)).toHaveLength(2);
    expect(
      read(event('SUMMARY;X-A="a:b;c":long', '  text', 'DTSTART:20260601T08', ' 0000Z', 'DURATION:PT1H')),
    ).toHaveLength(1);
  });
});

test.each([
  [
    'no calendar',
    'hello',
    [
      'line 1: it does not begin with BEGIN:VCALENDAR',
      'line 1: "hello" is no line of iCalendar: it has no "NAME:value"',
    ],
  ],
  [
    'a file that is cut off',
    'BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:a',
    [
      'line 1: BEGIN:VCALENDAR has no end: the file is cut off',
      'line 2: BEGIN:VEVENT has no end: the file is cut off',
      'line 2: the event has no DTSTART',
    ],
  ],
  [
    'a date that is none',
    event('DTSTART:20260231T080000Z', 'DURATION:PT1H'),
    ['line 5: DTSTART "20260231T080000Z" is no date and no time'],
  ],
  [
    'no UID, no end',
    calendar('BEGIN:VEVENT', 'DTSTART:20260601T080000Z', 'END:VEVENT'),
    [
      'line 3: the event has no UID, so it would not be known again',
      'line 3: the event has no end (DTEND or DURATION)',
    ],
  ],
  [
    'a zone that nobody knows',
    event('DTSTART;TZID=Mars/Olympus:20260601T080000', 'DURATION:PT1H'),
    ['line 5: time zone "Mars/Olympus" is not known, and the calendar has no VTIMEZONE for it'],
  ],
  [
    'a day of no zone',
    event('DTSTART;VALUE=DATE:20260601'),
    ['line 5: DTSTART names no time zone, and neither does the calendar: give --time-zone'],
  ],
  [
    'a rule by the second',
    event('DTSTART:20260601T080000Z', 'DURATION:PT1H', 'RRULE:FREQ=SECONDLY'),
    ['line 7: a rule must repeat by day, week, month or year: "FREQ=SECONDLY"'],
  ],
  ['a length that is none', event('DTSTART:20260601T080000Z', 'DURATION:1 hour'), ['line 6: "1 hour" is no length']],
])('%s is refused by line', (_name, text, expected) => {
  expect(problems(text)).toEqual(expected);
});

test('a rule with a part that is none is refused by line', () => {
  const text = event('DTSTART:20260601T080000Z', 'DURATION:PT1H', 'RRULE:FREQ=DAILY;BYMONTH=40');
  expect(problems(text)[0]).toMatch(/^line 7: "FREQ=DAILY;BYMONTH=40" is no rule: /);
});
