import { renderDuration } from '../duration-text.ts';
import type { NodeDuty } from '../node-duty.ts';
import { type Reason, reason } from '../reasons.ts';
import type { FleetNodeFacts } from '../rollout-snapshot.ts';
import { type Hold, OPEN, type StartGate, wait } from './start-gate.ts';

/** Heartbeats come every few seconds and wake nobody, so a node on duty is asked about this often. */
const ASK_AGAIN_MS = 10_000;
/** A forecast is looked at again before it is over: slots move. */
const LONGEST_WAIT_MS = 60_000;

function dutyReason(node: FleetNodeFacts, { name, free, waitSeconds, missing }: NodeDuty): Reason {
  if (free === null) {
    const what = missing.length > 0 ? `its metric ${missing.join(', ')} is` : 'what its expression asks is';
    return reason('duty_unknown', { node: node.nodeId, duty: name, what });
  }
  const next =
    waitSeconds === null
      ? 'when it is free next is not known'
      : `its next free window comes in about ${renderDuration(waitSeconds * 1000)}`;
  return reason('on_duty', { node: node.nodeId, duty: name, next });
}

function askAgainAt({ free, waitSeconds }: NodeDuty, now: number): number {
  if (free !== false || waitSeconds === null) return now + ASK_AGAIN_MS;
  return now + Math.min(Math.max(waitSeconds * 1000, 1_000), LONGEST_WAIT_MS);
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
