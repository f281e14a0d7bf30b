import { reason } from '../reasons.ts';
import { OPEN, type StartGate, wait } from './start-gate.ts';

/** Two attempts never meet on a node, whatever the rollout (C2a). */
export const nodeBusy: StartGate = ({ row }, { snapshot }) => {
  const other = snapshot.fleet.get(row.nodeId)?.busyWithRolloutId ?? null;
  if (other === null) return OPEN;
  return wait({ reason: reason('node_busy', { node: row.nodeId, rollout: other }) });
};
