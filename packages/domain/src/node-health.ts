import { type ApplicationHealth, NODE_STATE_TRANSITIONS, type NodeState, type SyncStatus } from './node-state.ts';
import { canTransition } from './transition.ts';

/** What the heartbeat evaluator knows of a node. Times are epoch milliseconds. */
export interface NodeHealthFacts {
  readonly state: NodeState;
  readonly now: number;
  /** Server receive time of the last heartbeat; null when none ever came. */
  readonly lastHeartbeatAt: number | null;
  /** A heartbeat older than this means that the agent is offline. */
  readonly offlineAfterMs: number;
  /** Every component's service is active with a main process; null when the last heartbeat did not say. */
  readonly running: boolean | null;
  readonly applicationHealth: ApplicationHealth;
  readonly syncStatus: SyncStatus;
  /** The chain has a `healthy_expression` / a `synced_expression`; without one unknown is all there can be. */
  readonly judgesApplication: boolean;
  readonly judgesSync: boolean;
}

/** States that the evaluator leaves alone: an upgrade holds the node, or it is being given up (spec "Maintenance State Exemption"). */
const NOT_EVALUATED: readonly NodeState[] = ['maintenance', 'terminating', 'terminated', 'failed'];

/** Whether heartbeats, or their absence, may change the node's state. */
export function isEvaluated(state: NodeState): boolean {
  return !NOT_EVALUATED.includes(state);
}

function observedState(facts: NodeHealthFacts): NodeState {
  const { applicationHealth, syncStatus } = facts;
  if (facts.running === false) return 'down';
  if (applicationHealth === 'critical' || applicationHealth === 'degraded' || syncStatus === 'stalled')
    return 'degraded';
  // Alive but not proven well: unknown never counts as healthy where the chain says how to know (D3).
  const unknown =
    facts.running === null ||
    (facts.judgesApplication && applicationHealth === 'unknown') ||
    (facts.judgesSync && syncStatus === 'unknown');
  return unknown || syncStatus === 'syncing' ? 'syncing' : 'healthy';
}

/**
 * State the node should have by its heartbeats; the same state when nothing changes. A silent agent makes a node `down`,
 * unless it never joined (`provisioning`): there is nothing to miss yet.
 */
export function judgeNodeState(facts: NodeHealthFacts): NodeState {
  const { state, now, lastHeartbeatAt, offlineAfterMs } = facts;
  if (!isEvaluated(state)) return state;
  if (lastHeartbeatAt === null) return state === 'provisioning' ? state : 'down';
  const next = now - lastHeartbeatAt > offlineAfterMs ? 'down' : observedState(facts);
  return canTransition(NODE_STATE_TRANSITIONS, state, next) ? next : state;
}

/** One word for a node, and which of its three healths it comes from. */
export interface DisplayState {
  readonly text: NodeState | ApplicationHealth | SyncStatus;
  readonly from: 'state' | 'application_health' | 'sync_status';
}

/** What is shown of a node: `state` wins over `application_health`, which wins over `sync_status` (D0). */
export function displayState(
  state: NodeState,
  applicationHealth: ApplicationHealth,
  syncStatus: SyncStatus,
): DisplayState {
  if (state !== 'healthy') return { text: state, from: 'state' };
  if (applicationHealth === 'critical' || applicationHealth === 'degraded') {
    return { text: applicationHealth, from: 'application_health' };
  }
  if (syncStatus === 'stalled' || syncStatus === 'syncing') return { text: syncStatus, from: 'sync_status' };
  return { text: state, from: 'state' };
}
