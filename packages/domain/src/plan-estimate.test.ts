import { describe, expect, it } from 'vitest';
import { type EstimateInput, estimateRollout } from './plan-estimate.ts';

const INPUT: EstimateInput = {
  strategy: 'rolling',
  batchSizes: [3, 3, 1],
  maxInFlight: null,
  healthWaitMs: 60_000,
  skipValidation: false,
  past: { upgrades: 9, workMs: 20_000, downtimeMs: 2000 },
};

describe('how long a rollout takes', () => {
  it('is one node a batch, since the nodes of a batch go together', () => {
    expect(estimateRollout(INPUT)).toEqual({ nodeMs: 80_000, rolloutMs: 240_000 });
  });

  it('is longer where fewer may be in flight than a batch has', () => {
    expect(estimateRollout({ ...INPUT, maxInFlight: 2 }).rolloutMs).toBe(5 * 80_000);
  });

  it('has the time in which canaries are watched, when something comes after them', () => {
    expect(estimateRollout({ ...INPUT, strategy: 'canary' }).rolloutMs).toBe(240_000 + 120_000);
    expect(estimateRollout({ ...INPUT, strategy: 'canary', batchSizes: [1] }).rolloutMs).toBe(80_000);
  });

  it('waits for no proof that is skipped, and takes nothing without nodes', () => {
    expect(estimateRollout({ ...INPUT, skipValidation: true }).nodeMs).toBe(20_000);
    expect(estimateRollout({ ...INPUT, batchSizes: [] }).rolloutMs).toBe(0);
  });
});
