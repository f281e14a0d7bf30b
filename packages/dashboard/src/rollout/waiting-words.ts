import type { ReasonView } from '@hoodcloud/contracts/http/common';
import type { RolloutView } from '@hoodcloud/contracts/http/rollout-views';

/** In a list: why the rollout stands where it stands, as it was told when it was last asked what to do. */
export function reasonsOf(rollout: Pick<RolloutView, 'status' | 'status_reason' | 'waiting'>): readonly ReasonView[] {
  if (rollout.status === 'running' && rollout.waiting !== null) return rollout.waiting.reasons;
  return rollout.status_reason === null ? [] : [rollout.status_reason];
}
