import type { DecisionContext } from '../decision-context.ts';
import { type Reason, reason } from '../reasons.ts';
import { MAX_NODES_PER_ANSWER, type NodeToRun } from '../rollout-decision.ts';
import { nextAttempt } from '../rollout-rows.ts';
import { isOverridden } from '../rule-override.ts';
import { activationOnHost } from './activation-on-host.ts';
import { agentOffline } from './agent-offline.ts';
import { chainHalted } from './chain-halted.ts';
import { disruptionBudget } from './disruption-budget.ts';
import { freeze } from './freeze.ts';
import { maintenanceWindow } from './maintenance-window.ts';
import { maxInFlight } from './max-in-flight.ts';
import { nodeBusy } from './node-busy.ts';
import { nodeHeld } from './node-held.ts';
import { nodeQuarantined } from './node-quarantined.ts';
import { onDuty } from './on-duty.ts';
import { quorumGuard } from './quorum-guard.ts';
import { scheduledHeight } from './scheduled-height.ts';
import { scheduledStart } from './scheduled-start.ts';
import { stagingAhead } from './staging-ahead.ts';
import type { GateContext, Hold, StartCandidate, StartGate } from './start-gate.ts';
import { trust } from './trust.ts';

/** Names of the gates, in the order in which their reasons are told. */
export const START_GATE_NAMES = [
  'chain_halted',
  'trust',
  'freeze',
  'maintenance_window',
  'scheduled_start',
  'scheduled_height',
  'staging_ahead',
  'activation_on_host',
  'node_quarantined',
  'node_held',
  'node_busy',
  'agent_offline',
  'on_duty',
  'quorum_guard',
  'disruption_budget',
  'max_in_flight',
] as const;
export type StartGateName = (typeof START_GATE_NAMES)[number];
/** A node that swapped by itself at its height is not stopped any more: only its result is taken, and its health proved. */
const GATES_AFTER_A_SWAP: readonly StartGateName[] = ['node_quarantined', 'node_busy'];

/** What must be open for an agent to be told that it may swap by itself: afterwards nobody can be asked any more. */
const GATES_OF_ARMING: readonly StartGateName[] = [
  'trust',
  'freeze',
  'maintenance_window',
  'scheduled_start',
  'node_quarantined',
  'node_held',
];

const START_GATES: Readonly<Record<StartGateName, StartGate>> = {
  chain_halted: chainHalted,
  trust,
  freeze,
  maintenance_window: maintenanceWindow,
  scheduled_start: scheduledStart,
  scheduled_height: scheduledHeight,
  staging_ahead: stagingAhead,
  activation_on_host: activationOnHost,
  node_quarantined: nodeQuarantined,
  node_held: nodeHeld,
  node_busy: nodeBusy,
  agent_offline: agentOffline,
  on_duty: onDuty,
  quorum_guard: quorumGuard,
  disruption_budget: disruptionBudget,
  max_in_flight: maxInFlight,
};

/** What the gates made of some candidates. */
export interface GateSelection {
  readonly chosen: readonly NodeToRun[];
  /** One reason a code and rule; `nodeIds` lists the nodes it holds back. */
  readonly waiting: readonly Reason[];
  /** Set when a gate stops the whole rollout. */
  readonly stop: Reason | null;
  /** Epoch milliseconds when a gate may open by itself; null: none says so. */
  readonly until: number | null;
}

/** Every gate's answer for one candidate: nothing that holds it is left out, in the order in which gates are asked. */
export interface GateAnswer {
  readonly holds: readonly Hold[];
  readonly stop: Reason | null;
}

/** Whether the candidate may start now, and everything that says no. A rule that people set aside does not hold it. */
export function askGates(candidate: StartCandidate, context: GateContext): GateAnswer {
  const names = candidate.row.stageState === 'activated' ? GATES_AFTER_A_SWAP : START_GATE_NAMES;
  return ask(names, candidate, context);
}

/** Whether the candidate's agent may be armed to swap by itself at the height: no rule of people or calendar holds the node. */
export function mayArm(candidate: StartCandidate, context: DecisionContext): boolean {
  const { holds, stop } = ask(GATES_OF_ARMING, candidate, { ...context, underway: 0, chosen: [] });
  return holds.length === 0 && stop === null;
}

function ask(names: readonly StartGateName[], candidate: StartCandidate, context: GateContext): GateAnswer {
  const holds: Hold[] = [];
  let stop: Reason | null = null;
  for (const name of names) {
    const verdict = START_GATES[name](candidate, context);
    if (verdict.kind === 'stop') stop ??= verdict.reason;
    if (verdict.kind === 'wait') holds.push(...verdict.holds.filter((hold) => !isSetAside(hold, context)));
  }
  return { holds, stop };
}

function isSetAside({ rule }: Hold, { snapshot, now }: GateContext): boolean {
  return rule !== undefined && isOverridden(rule, snapshot.overrides, now);
}

/** Gathers holds of many candidates: the first one's words, and every node that is held alike. */
class HeldNodes {
  readonly #byKind = new Map<string, { reason: Reason; nodeIds: string[] }>();
  until: number | null = null;

  add(nodeId: string, { reason: why, rule, part, until }: Hold): void {
    const kind = `${why.code} ${rule?.name ?? ''} ${part ?? ''}`;
    const known = this.#byKind.get(kind);
    if (known) known.nodeIds.push(nodeId);
    else this.#byKind.set(kind, { reason: why, nodeIds: [nodeId] });
    if (until !== undefined) this.until = Math.min(until, this.until ?? until);
  }

  reasons(): Reason[] {
    return [...this.#byKind.values()].map(({ reason: { code, params }, nodeIds }) => reason(code, params, nodeIds));
  }
}

/**
 * Picks, in the given order, the candidates that may start now, at most `MAX_NODES_PER_ANSWER` with those that were chosen
 * `before`.
 */
export function selectStarts(
  candidates: readonly StartCandidate[],
  context: DecisionContext,
  before: readonly NodeToRun[] = [],
): GateSelection {
  const chosen: NodeToRun[] = [];
  const chosenIds = before.map(({ nodeId }) => nodeId);
  const held = new HeldNodes();
  let stopped: Reason | null = null;
  for (const candidate of candidates) {
    if (chosenIds.length >= MAX_NODES_PER_ANSWER) break;
    const underway = context.inFlight.length + context.offered.length + chosenIds.length;
    const { holds, stop } = askGates(candidate, { ...context, underway, chosen: chosenIds });
    const { nodeId } = candidate.row;
    for (const hold of holds) held.add(nodeId, hold);
    stopped ??= stop;
    if (stopped || holds.length > 0) continue;
    chosen.push({ nodeId, attempt: nextAttempt(candidate.row) });
    chosenIds.push(nodeId);
  }
  return { chosen: stopped ? [] : chosen, waiting: held.reasons(), stop: stopped, until: held.until };
}
