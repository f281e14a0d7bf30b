import { decideGroup } from '../decide-group.ts';
import { groupContext, groupControlReason } from '../group-context.ts';
import type { GroupSnapshot } from '../group-snapshot.ts';
import type { Reason } from '../reasons.ts';

/**
 * Why a group stands where it stands, by the rules by which it is led (C7a, C11); never empty, the most important first.
 * @param now epoch milliseconds
 */
export function whyGroupWaits(snapshot: GroupSnapshot, now: number): readonly Reason[] {
  const decision = decideGroup(snapshot, now);
  if (decision.kind === 'finish' || decision.kind === 'roll_back') return [decision.reason];
  if (!decision.reasons.some(({ code }) => code === 'component_canceling')) return decision.reasons;
  const { controls } = groupContext(snapshot, now);
  return [...decision.reasons, groupControlReason('canceled_by_operator', controls.cancel)];
}
