import { decideNext } from '../decide-next.ts';
import { currentBatch } from '../decide-upgrade.ts';
import { type DecisionContext, decisionContext } from '../decision-context.ts';
import { underwayReasons } from '../drain.ts';
import { isInFlight } from '../node-upgrade-status.ts';
import { type Reason, type ReasonCode, reason } from '../reasons.ts';
import type { RolloutDecision } from '../rollout-decision.ts';
import { wantsAttempt } from '../rollout-rows.ts';
import type { RolloutSnapshot } from '../rollout-snapshot.ts';
import { isEndedRollout } from '../rollout-status.ts';
import { controlReason } from '../standing-pause.ts';
import { holdsSomeNodes } from './waiting-reasons.ts';

/** What is known once for a rollout when "why does it wait?" is asked of it, or of many of its nodes. */
export interface RolloutWhy {
  readonly context: DecisionContext;
  readonly decision: RolloutDecision;
  /** The answer for the rollout as a whole; never empty, the most important first. */
  readonly reasons: readonly Reason[];
  /** What keeps every node that has not begun from beginning; empty when only its turn, or a gate, does. */
  readonly holds: readonly Reason[];
  /** Ids of the nodes that start now. */
  readonly starting: ReadonlySet<string>;
  /** The batch whose turn it is; null when every node has ended. */
  readonly turn: BatchTurn | null;
}

/** How far a batch is. */
export interface BatchTurn {
  readonly batch: number;
  readonly inFlight: number;
  readonly notBegun: number;
}

function turnOf(context: DecisionContext): BatchTurn | null {
  const batch = currentBatch(context, new Set());
  if (batch === null) return null;
  const rows = context.snapshot.nodes.filter(({ batchIndex }) => batchIndex === batch);
  const inFlight = rows.filter(({ status }) => isInFlight(status)).length;
  return { batch, inFlight, notBegun: rows.filter(wantsAttempt).length };
}

/** Reasons about some of the nodes, or about what comes next: they hold nobody else. */
const NO_HOLD: readonly ReasonCode[] = [
  'nodes_in_flight',
  'nodes_offered',
  'canary_observation',
  'waiting_for_approval',
  'second_person_needed',
];

/** Who ordered what is being carried out, and why: the decision itself only says that it is. */
function ordererOf({ controls }: DecisionContext, reasons: readonly Reason[]): Reason[] {
  const says = (code: ReasonCode) => reasons.some((one) => one.code === code);
  if (says('canceling')) return [controlReason('canceled_by_operator', controls.cancel)];
  if (says('rollback_draining')) return [controlReason('rollback_by_operator', controls.rollback)];
  return [];
}

function reasonsOf(context: DecisionContext, decision: RolloutDecision, stored: Reason | null): readonly Reason[] {
  const { status } = context.snapshot.rollout;
  switch (decision.kind) {
    case 'finish':
      // An end that stands was told with its figures when it came.
      return [isEndedRollout(status) && stored !== null ? stored : decision.reason];
    case 'roll_back':
      return [decision.reason];
    case 'pause':
      return decision.reasons.length > 0 ? decision.reasons : [decision.reason];
    case 'wait':
      return [...decision.reasons, ...ordererOf(context, decision.reasons)];
    case 'run': {
      const due = decision.nodes.map(({ nodeId }) => nodeId);
      const count = due.length + context.offered.length;
      const underway = underwayReasons({ ...context, offered: [] });
      return [reason('nodes_offered', { count }, due), ...underway, ...decision.reasons];
    }
  }
}

/**
 * Why a rollout stands where it stands, from its rows of this moment (C7a, C11). Pure, and the same rules by which it is
 * led: `decideNext` is asked, so the answer can't be another one than the reason for which nothing happens.
 * @param stored the reason of its status with its figures, as it was told
 * @param now epoch milliseconds
 */
export function whyRolloutWaits(snapshot: RolloutSnapshot, stored: Reason | null, now: number): RolloutWhy {
  const context = decisionContext(snapshot, now);
  const decision = decideNext(snapshot, now);
  const reasons = reasonsOf(context, decision, stored);
  const holds = reasons.filter(({ code }) => !NO_HOLD.includes(code) && !holdsSomeNodes(code));
  const starting = new Set(decision.kind === 'run' ? decision.nodes.map(({ nodeId }) => nodeId) : []);
  return { context, decision, reasons, holds, starting, turn: turnOf(context) };
}
