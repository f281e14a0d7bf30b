import { expect, test } from 'vitest';
import { firstStart, type TimeRules } from './first-start.ts';
import { aNode } from './testing/snapshot-builder.ts';
import { WEEKDAYS, type Weekday } from './weekly-window.ts';

const at = (text: string) => Date.parse(`2026-06-${text}:00Z`);
const now = at('10T12:00');
const node = aNode('a', { chainProfileId: 'moon' });
const window = (from: string, to: string, days: readonly Weekday[] = WEEKDAYS) => ({
  time_zone: 'UTC',
  weekly: [{ days, from, to }],
});
const policy = (name: string, spec: ReturnType<typeof window>, chain = 'moon') => ({
  name,
  spec: { scope: { chains: [chain] }, ...spec },
});
const payout = {
  name: 'payout',
  spec: { scope: {}, from: '2026-06-01T00:00:00Z', to: '2026-06-13T21:00:00Z', reason: 'the payout' },
};
const none: TimeRules = { policies: { windows: [], freezes: [] } };

test('without a rule about the time the first node starts at once', () => {
  expect(firstStart(node, none, now)).toBe(now);
  const others = { policies: { windows: [policy('nights', window('22:00', '23:00'), 'sun')], freezes: [] } };
  expect(firstStart(node, others, now)).toBe(now);
});

test('it starts when time, windows and freeze are all behind it', () => {
  const windows = [policy('nights', window('20:00', '22:00')), policy('weekend', window('00:00', '00:00', ['sun']))];
  const rules = {
    startAt: at('12T00:00'),
    windows: [window('21:30', '23:00')],
    policies: { windows, freezes: [payout] },
  };
  expect(firstStart(node, rules, now)).toBe(at('14T21:30'));
});

test('windows that are never open together let it start never', () => {
  const windows = [policy('nights', window('20:00', '22:00')), policy('noon', window('12:00', '13:00'))];
  expect(firstStart(node, { policies: { windows, freezes: [] } }, now)).toBeNull();
});
