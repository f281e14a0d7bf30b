import { effectiveControls } from './effective-controls.ts';
import { isInFlight } from './node-upgrade-status.ts';
import { type Reason, reason } from './reasons.ts';
import type { RolloutControl } from './rollout-control.ts';
import { OFFER_AGAIN_AFTER_MS } from './rollout-decision.ts';
import { nextAttempt, wantsAttempt } from './rollout-rows.ts';
import type { RolloutFacts, RolloutNodeFacts } from './rollout-snapshot.ts';
import { isEndedRollout } from './rollout-status.ts';

export interface AttemptStartFacts {
  readonly rollout: Pick<RolloutFacts, 'status' | 'direction'>;
  readonly controls: readonly RolloutControl[];
  readonly row: RolloutNodeFacts;
  /** The attempt that the child was started for. */
  readonly attempt: number;
  /** Epoch milliseconds, by the clock that stamped the offer. */
  readonly now: number;
}

export type AttemptStart =
  | { readonly kind: 'start' }
  /** This attempt runs already (a child started twice, a killed worker): go on, change nothing (C13). */
  | { readonly kind: 'under_way' }
  | { readonly kind: 'refused'; readonly reason: Reason };

function refused(why: Reason): AttemptStart {
  return { kind: 'refused', reason: why };
}

/**
 * Asked by a child's first step, in the transaction that moves the row to `in_progress`: an offer may be taken long after
 * the question it answered, so what was ordered since must hold here too (C6, C7). An offer that has lapsed holds no
 * place any more, which another node may have by now: who comes later than that would make one too many. A refused child
 * ends at once and the row stays as it is; it is offered again when its time has come.
 */
export function judgeAttemptStart({ rollout, controls, row, attempt, now }: AttemptStartFacts): AttemptStart {
  if (isInFlight(row.status) && row.attemptCount === attempt) return { kind: 'under_way' };
  if (!wantsAttempt(row) || nextAttempt(row) !== attempt) return refused(reason('superseded'));
  if (row.offeredAt !== null && now - row.offeredAt >= OFFER_AGAIN_AFTER_MS) return refused(reason('superseded'));
  if (row.attemptDirection !== rollout.direction) return refused(reason('superseded'));
  const { cancel, rollback, pause } = effectiveControls(controls);
  if (cancel || rollout.status === 'canceled') return refused(reason('canceling', { count: 0 }));
  if (rollback && rollout.direction === 'upgrade') return refused(reason('rollback_draining', { count: 0 }));
  const isRetry = row.status !== 'pending' && rollout.direction === 'upgrade';
  // A pause sent by hand to a rollout that is over holds nothing: nobody could lift it, and the retry would be offered for ever.
  if (!isRetry && pause && !isEndedRollout(rollout.status)) return refused(reason('pausing', { count: 0 }));
  return { kind: 'start' };
}
