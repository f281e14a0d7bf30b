import type { DecisionContext } from '../decision-context.ts';
import type { Reason } from '../reasons.ts';
import type { RolloutNodeFacts } from '../rollout-snapshot.ts';
import type { OverridableRule } from '../rule-override.ts';

/** Why a node is about to start: its first turn, a retry that a person ordered, or the way back. */
export type StartPurpose = 'first' | 'retry' | 'rollback';

/** Why the row's wanted attempt is about to start. */
export function purposeOf({ attemptDirection, status }: RolloutNodeFacts): StartPurpose {
  if (attemptDirection === 'rollback') return 'rollback';
  return status === 'pending' ? 'first' : 'retry';
}

/** A row that would start now if every gate lets it. */
export interface StartCandidate {
  readonly row: RolloutNodeFacts;
  readonly purpose: StartPurpose;
}

/** One thing that keeps a node from starting now. */
export interface Hold {
  readonly reason: Reason;
  /** Epoch milliseconds when it is worth asking again; left out: something else wakes the rollout. */
  readonly until?: number;
  /** The rule that a person may set aside for this rollout; left out: nobody may. */
  readonly rule?: OverridableRule;
  /** Which part of the rule, such as one zone of a budget per zone: nodes held by different parts are told apart. */
  readonly part?: string;
}

/**
 * `open`: may start as far as this gate goes; `wait`: this node not now; `stop`: no node of the rollout, which pauses
 * with the reason once nothing is in flight.
 */
export type GateVerdict =
  | { readonly kind: 'open' }
  | { readonly kind: 'wait'; readonly holds: readonly Hold[] }
  | { readonly kind: 'stop'; readonly reason: Reason };

export const OPEN: GateVerdict = { kind: 'open' };

/** The verdict of a gate that holds a node back; open when nothing does. */
export function wait(...holds: readonly Hold[]): GateVerdict {
  return holds.length === 0 ? OPEN : { kind: 'wait', holds };
}

/** What a gate may look at: the question's context and what is, or is about to be, in flight. */
export interface GateContext extends DecisionContext {
  /** How many nodes of the rollout are under way, those that this answer starts included. */
  readonly underway: number;
  /** Ids of the nodes that this answer starts already. */
  readonly chosen: readonly string[];
}

/** A condition before a node starts. Pure; asked for each candidate, in the order of the map. */
export type StartGate = (candidate: StartCandidate, context: GateContext) => GateVerdict;
