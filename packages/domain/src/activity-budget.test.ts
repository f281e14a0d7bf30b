import { expect, test } from 'vitest';
import { DEFAULT_ACTION_BUDGETS_MS, MIN_SCHEDULE_TO_CLOSE_MS, scheduleToCloseMs } from './activity-budget.ts';
import { rollbackTier } from './rollback-tier.ts';
import { UPGRADE_ACTION_NAMES } from './upgrade-phase.ts';

test('every action has a budget', () => {
  expect(Object.keys(DEFAULT_ACTION_BUDGETS_MS)).toEqual([...UPGRADE_ACTION_NAMES]);
});

test('the default budgets with their undo come to about 13 minutes (B5)', () => {
  expect(scheduleToCloseMs() / 60_000).toBeCloseTo(12.8, 1);
});

test('a stop budget counts on the way forward and in the undo: a node may flush for an hour', () => {
  expect(scheduleToCloseMs({ stop_node: 3_600_000 }) - scheduleToCloseMs()).toBe(2 * (3_600_000 - 60_000));
});

test('it is never under the ten minutes of the specification', () => {
  const short = Object.fromEntries(UPGRADE_ACTION_NAMES.map((name) => [name, 1_000]));
  expect(scheduleToCloseMs(short)).toBe(MIN_SCHEDULE_TO_CLOSE_MS);
});

test('the tier of a rollback is declared by the migration type', () => {
  expect(rollbackTier('none')).toMatchObject({ tier: 1, recovery: 'automatic' });
  expect(rollbackTier('compatible')).toMatchObject({ tier: 2, recovery: 'automatic' });
  expect(rollbackTier('breaking')).toMatchObject({ tier: 3, recovery: 'reprovisioning' });
});
