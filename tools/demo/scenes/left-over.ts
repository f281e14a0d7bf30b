import type { RolloutView } from '@hoodcloud/contracts/http/rollout-views';
import { isEndedRollout } from '@hoodcloud/domain/rollout-status';
import type { DemoRelease } from '../chain/demo-chain.ts';
import type { ObservedNode } from '../report/observe-nodes.ts';
import type { Operator } from '../stage/operator.ts';
import type { SetStage } from '../stage/stage.ts';

/** An earlier run left something that this one can't go on from; the message says what to type. */
export class DemoLeftOver extends Error {
  readonly code = 'demo_left_over';

  constructor(what: string) {
    super(`${what} Begin anew: npm run demo -- --reset`);
  }
}

/** @throws DemoLeftOver when an earlier run was interrupted in the middle of a rollout */
export async function refuseOpenRollout(operator: Operator): Promise<void> {
  const rollouts = await operator.asks<RolloutView[]>(['rollout', 'list']);
  const open = rollouts.find(({ status }) => !isEndedRollout(status));
  if (open)
    throw new DemoLeftOver(`An earlier run ended while its rollout to ${open.target_version} was ${open.status}.`);
}

/**
 * The release that the nodes don't run yet: the newer one the first time, the older one when an earlier run left the
 * newer (both read the same data).
 * @throws DemoLeftOver when the nodes run different releases
 */
export function releaseToRoll({ chain }: SetStage, running: readonly ObservedNode[]): DemoRelease {
  const { old, good } = chain.releases;
  const all = (release: DemoRelease) => running.every(({ sha256 }) => sha256 === release.sha256);
  if (all(old)) return good;
  if (all(good)) return old;
  throw new DemoLeftOver('An earlier run left nodes of different releases.');
}
