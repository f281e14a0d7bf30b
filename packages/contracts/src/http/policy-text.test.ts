import { expect, it } from 'vitest';
import type { PolicyView } from './policies.ts';
import { agreedText, freezeStateText, policyText } from './policy-text.ts';

const NIGHTS = {
  scope: { labels: { customer: 'acme' } },
  time_zone: 'Europe/Berlin',
  weekly: [{ days: ['mon', 'tue', 'wed', 'thu'], from: '22:00', to: '04:00' }],
  min_left_minutes: 30,
};
const SCOPE = { chains: ['gaia', 'noble'], node_types: ['validator'], labels: { zone: ['eu', 'us'], rack: '7' } };
const freeze = (from: string, to: string) => ({
  kind: 'freeze' as const,
  spec: { scope: {}, from, to, reason: 'pay' },
});

it.each<[PolicyView['kind'], Record<string, unknown>, string]>([
  ['disruption_budget', { scope: {}, max_unavailable: 2 }, 'At most 2 of all nodes may be unavailable at once.'],
  [
    'disruption_budget',
    { scope: SCOPE, per: 'zone', max_unavailable: '25%' },
    'At most 25% (rounded down, never below 1) of validator nodes of gaia or noble with zone eu or us and rack 7 may be unavailable at once, for each zone by itself.',
  ],
  [
    'maintenance_window',
    NIGHTS,
    'Nodes with customer acme may be started only mon-thu 22:00-04:00 Europe/Berlin, to the last 30 min.',
  ],
  [
    'freeze',
    freeze('2026-12-20T00:00:00Z', '2026-12-27T00:00:00Z').spec,
    'Nothing starts on any node from 2026-12-20T00:00:00Z to 2026-12-27T00:00:00Z: pay',
  ],
])('a %s is said in words', (kind, spec, text) => {
  expect(policyText({ kind, spec })).toBe(text);
});

it('freezes say whether they stand now, which is the next, which come later and which are over', () => {
  const all = [
    freeze('2026-11-01T00:00:00Z', '2026-12-01T12:00:00Z'), // over at the very end
    freeze('2026-12-01T12:00:00Z', '2026-12-01T15:00:00Z'), // stands from its first moment
    freeze('2026-12-20T00:00:00Z', '2026-12-27T00:00:00Z'),
    freeze('2026-12-03T12:00:00Z', '2026-12-04T00:00:00Z'),
    { kind: 'disruption_budget' as const, spec: { scope: {}, max_unavailable: 1 } },
  ];
  const now = new Date('2026-12-01T12:00:00Z');
  expect(all.map((one) => freezeStateText(one, all, now))).toEqual([
    'over',
    'frozen now, 3 h left',
    'begins in 18 d 12 h',
    'next freeze, in 2 d',
    null,
  ]);
});

it('who has agreed is said by name, and how many it takes', () => {
  expect(agreedText({ persons: 2, agreed: [] })).toBe('0 of 2 people agreed');
  expect(agreedText({ persons: 2, agreed: ['key:ann'] })).toBe('1 of 2 people agreed (key:ann)');
  expect(agreedText({ persons: 1, agreed: [] })).toBe('one person may');
});
