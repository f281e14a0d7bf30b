import { isoTime } from '../iso-time.ts';
import { heldReason, type NodeHold } from '../node-hold.ts';
import { type Reason, reason } from '../reasons.ts';

/** A node as the fleet knows it. */
export interface IdleNodeFacts {
  readonly nodeId: string;
  readonly joined: boolean;
  readonly online: boolean;
  readonly lastHeartbeatAt: number | null;
  readonly quarantined: boolean;
  readonly hold?: NodeHold | null;
}

/** What would keep the node from being changed, whatever rollout comes. */
export function whyNodeIsUnfit(
  { nodeId: node, joined, online, quarantined, lastHeartbeatAt, hold }: IdleNodeFacts,
  now: number,
): Reason[] {
  if (!joined) return [reason('never_joined')];
  if (quarantined) return [reason('node_quarantined', { node })];
  const held = heldReason(node, hold, now);
  const reasons = held === null ? [] : [held];
  if (online) return reasons;
  const since = lastHeartbeatAt === null ? 'ever' : isoTime(lastHeartbeatAt);
  return [...reasons, reason('agent_offline', { node, since })];
}

/** Why nothing happens on a node that no rollout under way has; never empty. */
export function whyIdleNodeWaits(node: IdleNodeFacts, now: number): Reason[] {
  return [reason('not_in_rollout', { node: node.nodeId }), ...whyNodeIsUnfit(node, now)];
}
