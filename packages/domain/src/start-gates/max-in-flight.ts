import { reason } from '../reasons.ts';
import { OPEN, type StartGate, wait } from './start-gate.ts';

/** Caps the nodes in flight, offered ones included, whatever the batch (C7); a rollback obeys it too (field-case 102). */
export const maxInFlight: StartGate = (_candidate, { snapshot, underway }) => {
  const limit = snapshot.rollout.maxInFlight;
  if (limit === null || underway < limit) return OPEN;
  return wait({ reason: reason('max_in_flight_reached', { count: underway, limit }) });
};
