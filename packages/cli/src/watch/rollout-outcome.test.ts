import { expect, it } from 'vitest';
import { ROLLOUT_ID, reasonView, rolloutView } from '../testing/sample-views.ts';
import { outcomeOf } from './rollout-outcome.ts';

it('goes on while a paused rollout still has nodes in flight', () => {
  expect(outcomeOf(rolloutView({ status: 'paused', in_flight_nodes: 1 }))).toBeNull();
});

it('says why a rollout paused itself and which command is next', () => {
  const paused = rolloutView({ status: 'paused', status_reason: reasonView('canary_failed', { node: 'validator-3' }) });
  expect(outcomeOf(paused)).toEqual({
    exitCode: 3,
    sentence: 'Paused. A canary failed: validator-3.',
    next: `hoodctl rollout resume ${ROLLOUT_ID}   (or cancel, rollback)`,
  });
});
