import { heldReason } from '../node-hold.ts';
import { OPEN, type StartGate, wait } from './start-gate.ts';

/**
 * A node that a person holds waits for its turn until the hold expires or is released, on the way back too: whoever holds
 * it is at work on it. One person may set the hold aside for a rollout.
 */
export const nodeHeld: StartGate = ({ row }, { snapshot, now }) => {
  const node = snapshot.fleet.get(row.nodeId);
  const held = heldReason(row.nodeId, node?.hold, now);
  if (!node?.hold || held === null) return OPEN;
  return wait({ reason: held, until: node.hold.until, rule: { name: `hold/${node.name}`, persons: 1 } });
};
