import { askAgainInMs, type NodeDuty, nextWindowText } from '../node-duty.ts';
import { type Reason, reason } from '../reasons.ts';
import type { FleetNodeFacts } from '../rollout-snapshot.ts';
import { type Hold, OPEN, type StartGate, wait } from './start-gate.ts';

function dutyReason(node: FleetNodeFacts, { name, free, waitSeconds, missing }: NodeDuty): Reason {
  if (free === null) {
    const what = missing.length > 0 ? `its metric ${missing.join(', ')} is` : 'what its expression asks is';
    return reason('duty_unknown', { node: node.nodeId, duty: name, what });
  }
  return reason('on_duty', { node: node.nodeId, duty: name, next: nextWindowText(waitSeconds) });
}

/** Heartbeats come every few seconds and wake nobody, so a node on duty is asked about. */
function askAgainAt({ free, waitSeconds }: NodeDuty, now: number): number {
  return now + askAgainInMs(free === false ? waitSeconds : null);
}

/**
 * A node is not stopped while it has a duty: its turn to propose, a window of attestations. What is not known is not free.
 * The way back passes, since the release may be what keeps the node from its duties; so does a node that is down, which
 * has none to miss, and an offline one, which its own pre-check leaves out or `agent_offline` waits for.
 */
export const onDuty: StartGate = ({ row, purpose }, { snapshot, now }) => {
  const node = snapshot.fleet.get(row.nodeId);
  if (purpose === 'rollback' || !node?.online || node.state === 'down') return OPEN;
  const taken = (node.duties ?? []).filter(({ free }) => free !== true);
  return wait(
    ...taken.map(
      (duty): Hold => ({
        reason: dutyReason(node, duty),
        until: askAgainAt(duty, now),
        rule: { name: `duty/${duty.name}`, persons: 1 },
      }),
    ),
  );
};
