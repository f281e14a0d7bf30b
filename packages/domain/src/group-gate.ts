import type { BegunComponent, GroupContext } from './group-context.ts';
import type { GateNodeFacts } from './group-snapshot.ts';
import { isoTime } from './iso-time.ts';
import { MAX_NAMED_NODES, type Reason, reason } from './reasons.ts';

/** The gate is looked at again after this time: a node that gets well wakes nobody. */
export const GATE_LOOK_MS = 2_000;

/** A sentence names so many nodes; the reason carries more. */
const NAMED_IN_SENTENCE = 5;

export type GateVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'wait'; readonly until: number; readonly reason: Reason }
  | { readonly kind: 'fail'; readonly reason: Reason };

/** Why a node keeps the gate shut; null when it doesn't. Unknown never counts as healthy (D3); fresh means after (D1). */
function holdsShut(node: GateNodeFacts, endedAt: number): string | null {
  if (node.leftStopped) return null;
  if (node.quarantined) return 'quarantined';
  if (!node.online) return 'offline';
  if (node.state !== 'healthy') return node.state;
  if (node.lastHeartbeatAt === null || node.lastHeartbeatAt <= endedAt) return 'no heartbeat since';
  return node.runsTarget ? null : 'runs something else';
}

/**
 * The health gate after a component (spec "RolloutGroupWorkflow"): the next one begins when every node that this one
 * upgraded is proved healthy by a heartbeat that came after its rollout ended. Its time counts from that end, or from the
 * last resume: waiting for a person uses up no deadline (C6).
 */
export function judgeGate(context: GroupContext, { rollout, binaryName, gateNodes }: BegunComponent): GateVerdict {
  const { snapshot, now, controls } = context;
  const shut = gateNodes.flatMap((node) => {
    const why = holdsShut(node, rollout.statusChangedAt);
    return why === null ? [] : [{ id: node.nodeId, text: `${node.nodeId} (${why})` }];
  });
  if (shut.length === 0) return { kind: 'pass' };
  const named = shut.slice(0, NAMED_IN_SENTENCE).map(({ text }) => text);
  const more = shut.length > named.length ? [`${shut.length - named.length} more`] : [];
  const node = [...named, ...more].join(', ');
  const ids = shut.slice(0, MAX_NAMED_NODES).map(({ id }) => id);
  const deadline = Math.max(rollout.statusChangedAt, controls.resume?.createdAt ?? 0) + snapshot.group.gateTimeoutMs;
  if (now >= deadline) {
    const seconds = Math.round(snapshot.group.gateTimeoutMs / 1000);
    return { kind: 'fail', reason: reason('component_unhealthy', { binary: binaryName, seconds, node }, ids) };
  }
  return {
    kind: 'wait',
    until: Math.min(deadline, now + GATE_LOOK_MS),
    reason: reason('component_gate', { binary: binaryName, node, until: isoTime(deadline) }, ids),
  };
}
