import { expect, test } from 'vitest';
import { isOverridden, type RuleOverride } from './rule-override.ts';

const said = (over: Partial<RuleOverride> = {}): RuleOverride => ({
  rule: 'freeze/payout',
  actor: 'key:ann',
  reason: 'a security release',
  createdAt: 0,
  expiresAt: 1_000,
  ...over,
});

test('an override names its rule, and holds until it expires', () => {
  const rule = { name: 'freeze/payout', persons: 1 } as const;
  expect(isOverridden(rule, [said()], 999)).toBe(true);
  expect(isOverridden(rule, [said()], 1_000)).toBe(false);
  expect(isOverridden(rule, [said({ rule: 'freeze/other' })], 0)).toBe(false);
});

test('where two people are asked, the same one twice is not two', () => {
  const rule = { name: 'freeze/payout', persons: 2 } as const;
  expect(isOverridden(rule, [said(), said({ reason: 'really' })], 0)).toBe(false);
  expect(isOverridden(rule, [said(), said({ actor: 'key:bob' })], 0)).toBe(true);
  expect(isOverridden(rule, [said(), said({ actor: 'key:bob', expiresAt: 5 })], 5)).toBe(false);
});
