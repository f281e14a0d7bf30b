import type { DecisionContext } from '../decision-context.ts';
import type { Reason } from '../reasons.ts';
import type { RolloutNodeFacts } from '../rollout-snapshot.ts';

/** Why a node is about to start: its first turn, a retry that a person ordered, or the way back. */
export type StartPurpose = 'first' | 'retry' | 'rollback';

/** A row that would start now if every gate lets it. */
export interface StartCandidate {
  readonly row: RolloutNodeFacts;
  readonly purpose: StartPurpose;
}

/**
 * `open`: may start as far as this gate goes; `wait`: this node not now; `stop`: no node of the rollout, which pauses
 * with the reason once nothing is in flight.
 */
export type GateVerdict =
  | { readonly kind: 'open' }
  | { readonly kind: 'wait'; readonly reason: Reason }
  | { readonly kind: 'stop'; readonly reason: Reason };

export const OPEN: GateVerdict = { kind: 'open' };

/** What a gate may look at: the question's context and how many nodes are, or are about to be, in flight. */
export interface GateContext extends DecisionContext {
  readonly underway: number;
}

/** A condition before a node starts. Pure; asked for each candidate, in the order of the map. */
export type StartGate = (candidate: StartCandidate, context: GateContext) => GateVerdict;
