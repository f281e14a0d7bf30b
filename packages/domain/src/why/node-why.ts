import { underwayCount } from '../drain.ts';
import { isoTime } from '../iso-time.ts';
import { isInFlight } from '../node-upgrade-status.ts';
import { type Reason, type ReasonCode, reason } from '../reasons.ts';
import { isOffered, nextAttempt, wantsAttempt } from '../rollout-rows.ts';
import type { RolloutNodeFacts } from '../rollout-snapshot.ts';
import type { StartPurpose } from '../start-gates/start-gate.ts';
import { askGates } from '../start-gates/start-gates.ts';
import { type AgentFacts, type AttemptFacts, type UsualDuration, whyAttemptGoesOn } from './attempt-why.ts';
import type { RolloutWhy } from './rollout-why.ts';
import { holdsSomeNodes, stopsAllNodes } from './waiting-reasons.ts';

/** Reasons of the batch whose turn it is that those behind it wait for too. */
const AHEAD: readonly ReasonCode[] = ['canary_observation', 'waiting_for_approval', 'second_person_needed'];

function ahead({ reasons }: RolloutWhy): Reason[] {
  return reasons.filter(
    ({ code }) => AHEAD.includes(code) || (holdsSomeNodes(code) && code !== 'max_in_flight_reached'),
  );
}

function gateReasons({ context }: RolloutWhy, row: RolloutNodeFacts, purpose: StartPurpose): Reason[] {
  const { holds, stop } = askGates({ row, purpose }, { ...context, underway: underwayCount(context), chosen: [] });
  return [...(stop ? [stop] : []), ...holds.map((hold) => hold.reason)];
}

/** A row that is about to start, or would if nothing were in its way. */
function whyNotStarted(why: RolloutWhy, row: RolloutNodeFacts): Reason[] {
  const { context, starting, holds } = why;
  if (isOffered(row, context.now)) {
    const since = row.offeredAt === null ? 'now' : isoTime(row.offeredAt);
    return [reason('start_offered', { attempt: nextAttempt(row), since })];
  }
  if (starting.has(row.nodeId)) {
    return [reason('batch_started', { batch: row.batchIndex })];
  }
  if (row.attemptDirection === 'rollback') return [...holds, ...whyNotBack(why, row)];
  if (row.status !== 'pending') return gateReasons(why, row, 'retry');
  return holds.length > 0 ? [...holds, ...whyElse(why, row)] : whyPending(why, row);
}

/** The gates that hold a node beside the one that stops the whole rollout: they are there still when that one opens. */
function whyElse(why: RolloutWhy, row: RolloutNodeFacts): Reason[] {
  const isItsTurn = why.turn !== null && row.batchIndex <= why.turn.batch;
  if (!isItsTurn || !why.holds.some(({ code }) => stopsAllNodes(code))) return [];
  return gateReasons(why, row, 'first').filter(({ code }) => !stopsAllNodes(code));
}

function whyNotBack(why: RolloutWhy, row: RolloutNodeFacts): Reason[] {
  const gate = gateReasons(why, row, 'rollback');
  if (gate.length > 0) return gate;
  const { context } = why;
  return [reason('rollback_turn', { count: underwayCount(context), size: context.snapshot.rollout.batchSize })];
}

function whyPending(why: RolloutWhy, row: RolloutNodeFacts): Reason[] {
  const { turn, context } = why;
  if (turn !== null && row.batchIndex > turn.batch) {
    const canaries = context.snapshot.rollout.strategy === 'canary' && turn.batch === 0;
    const before = canaries ? 'the canaries' : `batch ${turn.batch}`;
    const params = { batch: row.batchIndex, before, count: turn.inFlight, open: turn.notBegun };
    return [reason('batch_waits', params), ...ahead(why)];
  }
  const inTheWay = gateReasons(why, row, 'first');
  if (inTheWay.length > 0) return inTheWay;
  const ofStrategy = ahead(why).filter(({ nodeIds }) => nodeIds === undefined);
  return ofStrategy.length > 0 ? ofStrategy : [reason('batch_started', { batch: row.batchIndex })];
}

/** Who wanted the attempt that has not begun, when a person did. */
function orderedRetry({ context }: RolloutWhy, row: RolloutNodeFacts): Reason[] {
  if (row.status === 'pending' || row.attemptDirection === 'rollback') return [];
  const retry = context.snapshot.controls.findLast(({ kind, nodeId }) => kind === 'retry' && nodeId === row.nodeId);
  return [reason('retry_by_operator', { attempt: nextAttempt(row), actor: retry?.actor ?? 'an operator' })];
}

/** Why a node is where it is whose attempt is under way or over; only its own rows tell. */
function whyBegunNodeWaits(
  row: RolloutNodeFacts,
  attempt: AttemptFacts,
  fleet: AgentFacts | undefined,
  usual: UsualDuration,
): readonly Reason[] {
  if (isInFlight(row.status)) return whyAttemptGoesOn(row, attempt, fleet, usual);
  return [attempt.statusReason ?? reason('attempt_ended', { status: row.status })];
}

/** What is known of a node beside its row. */
export interface NodeWhyFacts {
  readonly attempt: AttemptFacts;
  /** Undefined: the fleet does not know the node. */
  readonly agent: AgentFacts | undefined;
  readonly usual: UsualDuration;
}

/**
 * Why a node is where it is in a rollout, in the reasons' own sentences (C11): never empty, the most important first.
 * @param rollout the rollout's own answer, asked once for all its nodes, and only when one of them has not begun
 */
export function whyNodeWaits(
  row: RolloutNodeFacts,
  { attempt, agent, usual }: NodeWhyFacts,
  rollout: () => RolloutWhy,
): readonly Reason[] {
  if (!wantsAttempt(row)) return whyBegunNodeWaits(row, attempt, agent, usual);
  const why = rollout();
  return [...orderedRetry(why, row), ...whyNotStarted(why, row)];
}
