import type { FieldError } from '@hoodcloud/contracts/http/problem';
import { AGENT_BINARY_NAME } from '@hoodcloud/domain/agent-binary';
import type { ChainFiles } from './chain-facts.ts';
import type { RolloutDraft } from './rollout-draft.ts';

/** The name that a node's plan file must have: the manifest's release, which Cosmovisor's folders have too, or its upgrade. */
export function planNameOf(upgrade: {
  readonly release_name: string | null;
  readonly upgrade_id: string | null;
}): string {
  return upgrade.release_name ?? upgrade.upgrade_id ?? '';
}

/** What is wrong with making ready ahead and with swapping at a height, every field at once. */
export async function stageProblems(chains: ChainFiles, { request, upgrade }: RolloutDraft): Promise<FieldError[]> {
  const problems: FieldError[] = [];
  const say = (field: string, code: string, message: string) => problems.push({ field, code, message });
  if (request.stage && upgrade.binary_name === AGENT_BINARY_NAME) {
    // the process that upgrades the agent outlives it, and knows nothing of what the agent made ready
    say('stage', 'stage_not_for_agent', 'An agent does not make its own upgrade ready ahead: leave stage out.');
  }
  if (request.activation === 'rollout') return problems;
  const on = `activation ${request.activation}`;
  if (!request.stage) say('stage', 'activation_needs_stage', `With ${on} nodes must make ready ahead: set stage.`);
  if (request.start_at_height === undefined) {
    say('start_at_height', 'activation_needs_height', `With ${on} there must be a height: set start_at_height.`);
  }
  if (request.strategy !== 'all_at_once') {
    const message = `With ${on} every node swaps at the height, so the strategy must be all_at_once.`;
    say('strategy', 'activation_needs_all_at_once', message);
  }
  const plan = planNameOf({ release_name: upgrade.release_name, upgrade_id: request.upgrade_id ?? null });
  if (request.activation === 'plan' && plan === '') {
    say('upgrade_id', 'activation_needs_plan_name', 'A plan file is known by the name of the upgrade: use a manifest.');
  }
  const metric = await chains.heightMetric(request.chain_profile_id);
  if (request.activation === 'height' && metric === null) {
    const message =
      "An agent reads its node's height from health.height_metric of the chain's profile, which has none.";
    say('activation', 'activation_needs_height_metric', message);
  }
  return problems;
}
