import { decisionContext } from '../decision-context.ts';
import { underwayCount } from '../drain.ts';
import type { Reason } from '../reasons.ts';
import { wantsAttempt } from '../rollout-rows.ts';
import type { RolloutSnapshot } from '../rollout-snapshot.ts';
import { isEndedRollout } from '../rollout-status.ts';
import type { OverridableRule } from '../rule-override.ts';
import { purposeOf } from './start-gate.ts';
import { askGates } from './start-gates.ts';

/** A rule that holds nodes of a rollout back, and that people may set aside. */
export interface HeldRule {
  readonly rule: OverridableRule;
  /** In the words of the first node that it holds. */
  readonly reason: Reason;
  readonly nodeIds: readonly string[];
}

/**
 * Every rule that holds a node back now which has its start before it, whatever its batch, in the order of the gates.
 * An ended rollout starts nothing, so that no rule holds it, though a canceled one still has nodes whose turn never came.
 */
export function heldRules(snapshot: RolloutSnapshot, now: number): HeldRule[] {
  if (isEndedRollout(snapshot.rollout.status)) return [];
  const context = decisionContext(snapshot, now);
  const found = new Map<string, { rule: OverridableRule; reason: Reason; nodeIds: string[] }>();
  for (const row of snapshot.nodes.filter(wantsAttempt)) {
    const asked = { ...context, underway: underwayCount(context), chosen: [] };
    for (const { rule, reason } of askGates({ row, purpose: purposeOf(row) }, asked).holds) {
      if (rule === undefined) continue;
      const known = found.get(rule.name) ?? { rule, reason, nodeIds: [] };
      known.nodeIds.push(row.nodeId);
      found.set(rule.name, known);
    }
  }
  return [...found.values()];
}
