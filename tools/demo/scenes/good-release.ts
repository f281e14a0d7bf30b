import type { DemoRelease } from '../chain/demo-chain.ts';
import { NODE_TYPE } from '../chain/demo-chain.ts';
import type { SetStage } from '../stage/stage.ts';

/** What a rollout of the story is ordered with; every choice is the operator's. */
export function rolloutFlags(stage: SetStage, release: DemoRelease): string[] {
  const { chainProfileId } = stage.chain;
  return [
    ...['--chain', chainProfileId, '--type', NODE_TYPE, '--upgrade', release.version],
    ...['--strategy', 'canary', '--canary-size', '1', '--batch-size', '1'],
  ];
}

/** Plan, then a canary rollout over the living chain, watched to its end. */
export async function goodRelease(stage: SetStage, release: DemoRelease): Promise<void> {
  const { narrator, operator } = stage;
  const { old } = stage.chain.releases;
  narrator.scene(`The fleet gets ${release.version}: one canary, then node by node`);
  if (release === old) narrator.say('An earlier run left the newer release; the older one reads the same data.');
  await stage.files.offer(release);
  const flags = rolloutFlags(stage, release);
  await operator.types(['rollout', 'plan', ...flags], [4]); // 4: it would change nodes
  await operator.types(['rollout', 'create', ...flags]);
  await operator.types(['rollout', 'start', 'latest', '--watch', '--reason', `move to ${release.version}`]);
  await operator.types(['rollout', 'nodes', 'latest']);
}
