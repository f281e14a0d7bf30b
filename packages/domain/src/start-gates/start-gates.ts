import type { DecisionContext } from '../decision-context.ts';
import { type Reason, reason } from '../reasons.ts';
import { MAX_NODES_PER_ANSWER, type NodeToRun } from '../rollout-decision.ts';
import { nextAttempt } from '../rollout-rows.ts';
import { agentOffline } from './agent-offline.ts';
import { chainHalted } from './chain-halted.ts';
import { maxInFlight } from './max-in-flight.ts';
import { nodeBusy } from './node-busy.ts';
import { nodeQuarantined } from './node-quarantined.ts';
import { type GateContext, type GateVerdict, OPEN, type StartCandidate, type StartGate } from './start-gate.ts';

/** Names of the gates, in the order in which they are asked: the limit last, so that it counts only who could start. */
const START_GATE_NAMES = ['chain_halted', 'node_quarantined', 'node_busy', 'agent_offline', 'max_in_flight'] as const;
export type StartGateName = (typeof START_GATE_NAMES)[number];

const START_GATES: Readonly<Record<StartGateName, StartGate>> = {
  chain_halted: chainHalted,
  node_quarantined: nodeQuarantined,
  node_busy: nodeBusy,
  agent_offline: agentOffline,
  max_in_flight: maxInFlight,
};

/** What the gates made of some candidates. */
export interface GateSelection {
  readonly chosen: readonly NodeToRun[];
  /** One reason a code; `nodeIds` lists every node it holds back. */
  readonly waiting: readonly Reason[];
  /** Set when a gate stops the whole rollout. */
  readonly stop: Reason | null;
}

function askGates(candidate: StartCandidate, context: GateContext): GateVerdict {
  for (const name of START_GATE_NAMES) {
    const verdict = START_GATES[name](candidate, context);
    if (verdict.kind !== 'open') return verdict;
  }
  return OPEN;
}

/**
 * Picks, in the given order, the candidates that may start now, at most `MAX_NODES_PER_ANSWER` with those that
 * `alreadyChosen` holds.
 */
export function selectStarts(
  candidates: readonly StartCandidate[],
  context: DecisionContext,
  alreadyChosen = 0,
): GateSelection {
  const chosen: NodeToRun[] = [];
  const held = new Map<Reason['code'], { reason: Reason; nodeIds: string[] }>();
  for (const candidate of candidates) {
    const answered = alreadyChosen + chosen.length;
    if (answered >= MAX_NODES_PER_ANSWER) break;
    const underway = context.inFlight.length + context.offered.length + answered;
    const verdict = askGates(candidate, { ...context, underway });
    const { nodeId } = candidate.row;
    if (verdict.kind === 'stop') return { chosen: [], waiting: [], stop: verdict.reason };
    if (verdict.kind === 'open') chosen.push({ nodeId, attempt: nextAttempt(candidate.row) });
    else {
      const known = held.get(verdict.reason.code);
      if (known) known.nodeIds.push(nodeId);
      else held.set(verdict.reason.code, { reason: verdict.reason, nodeIds: [nodeId] });
    }
  }
  const waiting = [...held.values()].map(({ reason: { code, params }, nodeIds }) => reason(code, params, nodeIds));
  return { chosen, waiting, stop: null };
}
