import { Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import { expect, it } from 'vitest';
import { scriptedUpgrade } from './upgrade-script.ts';

const SCRIPT = { seed: '7', upgradeMs: [100, 200], rolledBackShare: 0.2, reportEveryMs: null } as const;
const drawn = (seed: string) =>
  Array.from({ length: 1_000 }, (_, attempt) => scriptedUpgrade({ ...SCRIPT, seed }, String(attempt)));

it('draws each upgrade from seed and attempt alone, with times and outcomes as the script says', () => {
  expect(drawn('7')).toEqual(drawn('7'));
  expect(drawn('7')).not.toEqual(drawn('8'));
  expect(drawn('7').every(({ ms }) => ms >= 100 && ms <= 200)).toBe(true);
  const undone = drawn('7').filter(({ outcome }) => outcome === Outcome.ROLLED_BACK);
  expect(undone.length).toBeGreaterThan(150);
  expect(undone.length).toBeLessThan(250);
});
