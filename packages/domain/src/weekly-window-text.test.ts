import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WEEKDAYS } from './weekly-window.ts';
import { parseWeeklyWindow, weeklyWindowText } from './weekly-window-text.ts';

test.each([
  ['mon-fri 22:00-04:00 Europe/Berlin', ['mon', 'tue', 'wed', 'thu', 'fri']],
  ['sat,sun 00:00-00:00 UTC', ['sat', 'sun']],
  ['fri-mon 10:00-12:00 UTC', ['mon', 'fri', 'sat', 'sun']],
  ['mon,wed-fri 10:00-12:00 UTC', ['mon', 'wed', 'thu', 'fri']],
  ['  daily   10:00-12:00 UTC ', [...WEEKDAYS]],
])('%s is read', (text, days) => {
  expect(parseWeeklyWindow(text)?.weekly[0]?.days).toEqual(days);
});

test.each([
  'mon-fri 22:00-04:00',
  'monday 22:00-04:00 UTC',
  'mon- 22:00-04:00 UTC',
  'mon-tue-wed 22:00-04:00 UTC',
  'mon 22:00 04:00 UTC',
  'mon 24:00-04:00 UTC',
  'mon 22:00-04:00 UTC more',
  '22:00-04:00 UTC',
  '',
])('"%s" is refused', (text) => {
  expect(parseWeeklyWindow(text)).toBeNull();
});

test('what is written is read as the same window', () => {
  fc.assert(
    fc.property(fc.subarray([...WEEKDAYS], { minLength: 1 }), (days) => {
      const window = { time_zone: 'Asia/Tokyo', weekly: [{ days, from: '09:00', to: '17:30' }] };
      expect(parseWeeklyWindow(weeklyWindowText(window))).toEqual(window);
    }),
  );
});

test('several times, and the least time left, are told', () => {
  const weekly = [
    { days: ['mon' as const], from: '01:00', to: '02:00' },
    { days: WEEKDAYS, from: '05:00', to: '06:00' },
  ];
  expect(weeklyWindowText({ time_zone: 'UTC', weekly, min_left_minutes: 20 })).toBe(
    'mon 01:00-02:00 and daily 05:00-06:00 UTC, to the last 20 min',
  );
});
