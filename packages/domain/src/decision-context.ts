import { type EffectiveControls, effectiveControls } from './effective-controls.ts';
import { isInFlight } from './node-upgrade-status.ts';
import { isOffered } from './rollout-rows.ts';
import type { RolloutNodeFacts, RolloutSnapshot } from './rollout-snapshot.ts';

/** A snapshot with what every rule asks of it, computed once a question. */
export interface DecisionContext {
  readonly snapshot: RolloutSnapshot;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly controls: EffectiveControls;
  readonly inFlight: readonly RolloutNodeFacts[];
  /** Rows whose offer is out and not taken yet. */
  readonly offered: readonly RolloutNodeFacts[];
}

/** Builds the context of one question. */
export function decisionContext(snapshot: RolloutSnapshot, now: number): DecisionContext {
  return {
    snapshot,
    now,
    controls: effectiveControls(snapshot.controls),
    inFlight: snapshot.nodes.filter((row) => isInFlight(row.status)),
    offered: snapshot.nodes.filter((row) => isOffered(row, now)),
  };
}

/** Whether a person or the rollout's own settings override the threshold and the chain gate (C6, D4a). */
export function isForced({ snapshot, controls }: Pick<DecisionContext, 'snapshot' | 'controls'>): boolean {
  return snapshot.rollout.forceContinue || controls.force !== null;
}
