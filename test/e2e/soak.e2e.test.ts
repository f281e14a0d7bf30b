import { expect, it } from 'vitest';
import { soak } from '../faults/soak.ts';

it('rollout after rollout while roles and stores are killed at random: nothing twice, nothing lost, rows and agents agree', async () => {
  const seen = await soak({ minutes: 1, seed: 'ci' });
  expect(seen).toMatchObject({ doubleCommands: 0, lostEvents: 0, disagreeing: 0 });
  expect(seen.kills).toBeGreaterThan(2);
  expect(seen.upgrades).toBe(seen.rollouts * 6);
}, 900_000);
