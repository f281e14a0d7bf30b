import { isoTime } from '../iso-time.ts';
import { reason } from '../reasons.ts';
import { OPEN, type StartGate, wait } from './start-gate.ts';

/**
 * Waits for the agent of a node when the rollout's policy says so (field-case 109). Under policy `skip` the gate is
 * open: the node's own pre-check then leaves it out with the same reason (`pending`), or its command runs into its
 * deadline as `agent_unreachable` (retry, rollback), so that an offline node never hides and never holds the others.
 */
export const agentOffline: StartGate = ({ row }, { snapshot }) => {
  if (snapshot.rollout.offlinePolicy === 'skip') return OPEN;
  const node = snapshot.fleet.get(row.nodeId);
  if (node?.online) return OPEN;
  const since = node?.lastHeartbeatAt ?? null;
  return wait({
    reason: reason('agent_offline', { node: row.nodeId, since: since === null ? 'ever' : isoTime(since) }),
  });
};
