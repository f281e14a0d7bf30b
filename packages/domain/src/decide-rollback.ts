import type { DecisionContext } from './decision-context.ts';
import { drain, underwayCount, waitForUnderway } from './drain.ts';
import { reason } from './reasons.ts';
import type { RolloutDecision } from './rollout-decision.ts';
import { isOffered, wantsAttempt } from './rollout-rows.ts';
import type { RolloutNodeFacts } from './rollout-snapshot.ts';
import { standingPause } from './standing-pause.ts';
import type { StartCandidate } from './start-gates/start-gate.ts';
import { selectStarts } from './start-gates/start-gates.ts';

/** Order of a rollback: the fastest nodes first (C3), so that most are back soonest; ids settle a tie. */
function rollbackOrder(a: RolloutNodeFacts, b: RolloutNodeFacts): number {
  const difference = (a.durationMs ?? Number.MAX_SAFE_INTEGER) - (b.durationMs ?? Number.MAX_SAFE_INTEGER);
  return difference !== 0 ? difference : a.nodeId < b.nodeId ? -1 : 1;
}

function finish(context: DecisionContext): RolloutDecision {
  const rows = context.snapshot.nodes.filter((row) => row.attemptDirection === 'rollback');
  const failed = rows.filter((row) => row.status === 'failed');
  if (failed.length > 0) {
    const ids = failed.map((row) => row.nodeId);
    return { kind: 'finish', status: 'failed', reason: reason('rollback_incomplete', { count: failed.length }, ids) };
  }
  const count = rows.filter((row) => row.status === 'rolled_back').length;
  return { kind: 'finish', status: 'rolled_back', reason: reason('rollback_completed', { count }) };
}

/**
 * Next step of a rollback (C3, C10a): batches of `batchSize`, fastest first, one after the other; no canaries, no
 * observation, no approval, no threshold (field-case 97), but the same gates (field-case 102). A node that a gate holds
 * back keeps no other from going back.
 */
export function decideRollback(context: DecisionContext): RolloutDecision {
  const { snapshot, now } = context;
  const hold = standingPause(context);
  if (hold) {
    const status = snapshot.rollout.status === 'paused' ? 'paused' : 'running';
    const pausing = reason('pausing', { count: underwayCount(context) });
    return drain(context, status, [pausing, hold], { kind: 'pause', status: 'paused', reason: hold, reasons: [hold] });
  }
  const wanted = snapshot.nodes.filter(
    (row) => row.attemptDirection === 'rollback' && wantsAttempt(row) && !isOffered(row, now),
  );
  // A lapsed offer belongs to the batch under way; a batch that is new begins when nothing is under way.
  const lapsed = wanted.filter((row) => row.offeredAt !== null);
  const room = snapshot.rollout.batchSize - underwayCount(context);
  const pool = underwayCount(context) > 0 ? lapsed.slice(0, Math.max(room, 0)) : wanted;
  const candidates = pool.toSorted(rollbackOrder).map((row): StartCandidate => ({ row, purpose: 'rollback' }));
  const { chosen, waiting, until } = selectStarts(candidates, context);
  const nodes = chosen.slice(0, snapshot.rollout.batchSize);
  if (nodes.length > 0) return { kind: 'run', status: 'running', nodes, reasons: waiting };
  if (underwayCount(context) > 0 || waiting.length > 0) return waitForUnderway(context, 'running', waiting, until);
  return finish(context);
}
