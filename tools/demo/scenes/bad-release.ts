import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import type { SetStage } from '../stage/stage.ts';
import { rolloutFlags } from './good-release.ts';

/** What the rows said when the rollout had paused itself, before the operator ended it. */
export interface BadReleaseOutcome {
  readonly rollout: RolloutDetail;
  readonly nodes: readonly RolloutNodeView[];
}

/** A release that can't read the chain's data is offered as compatible: the canary fails, is undone, the rollout pauses. */
export async function badRelease(stage: SetStage): Promise<BadReleaseOutcome> {
  const { narrator, operator } = stage;
  const bad = await stage.chain.releases.bad;
  narrator.scene(`${bad.version} is offered as compatible, and is not`);
  await stage.files.offer(bad);
  await operator.types(['rollout', 'create', ...rolloutFlags(stage, bad)]);
  await operator.types(['rollout', 'start', 'latest', '--watch', '--reason', 'its notes say compatible'], [3]); // 3: it paused itself
  const outcome = {
    rollout: await operator.asks<RolloutDetail>(['rollout', 'status', 'latest']),
    nodes: await operator.asks<RolloutNodeView[]>(['rollout', 'nodes', 'latest']),
  };
  await operator.types(['rollout', 'nodes', 'latest']);
  const failed = outcome.nodes.find(({ status }) => status === 'failed' || status === 'rolled_back');
  if (failed) await operator.types(['rollout', 'logs', 'latest', failed.node_name]);
  await operator.types(['rollout', 'cancel', 'latest', '--reason', `${bad.version} can't read our data`]);
  return outcome;
}
