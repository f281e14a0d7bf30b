import { reason } from '../reasons.ts';
import { OPEN, type StartGate, wait } from './start-gate.ts';

/** The result of a swap wakes the rollout; a chain that passed the height without one is seen after so long, in milliseconds. */
const LOOK_AGAIN_MS = 5_000;

/**
 * Where the agents swap by themselves at the height, the control plane starts nobody before: what a node did arrives as its
 * result. A node that is reached and did nothing though the chain is past the height is upgraded like any other, late.
 */
export const activationOnHost: StartGate = ({ row, purpose }, { snapshot, now }) => {
  const { rollout, chain, fleet } = snapshot;
  if ((rollout.activation ?? 'rollout') === 'rollout' || purpose !== 'first') return OPEN;
  const height = rollout.startAtHeight ?? null;
  const isPast = height !== null && chain.bestHeight !== null && chain.bestHeight > height;
  if (isPast && fleet.get(row.nodeId)?.online) return OPEN;
  const armed = snapshot.nodes.filter(({ stageState }) => stageState === 'armed').length;
  const count = snapshot.nodes.filter(({ status }) => status === 'pending').length;
  return wait({
    reason: reason('armed_for_height', { height: height ?? '?', armed, count }),
    until: now + LOOK_AGAIN_MS,
    rule: { name: 'activation', persons: 1 },
  });
};
