import { randomUUID } from 'node:crypto';
import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { CreateRolloutRequest } from '@hoodcloud/contracts/http/rollout-requests';
import { planBatches } from '@hoodcloud/domain/batch-plan';
import { rollbackTier } from '@hoodcloud/domain/rollback-tier';
import type { Db } from '../db/database.ts';
import { reasonView } from '../http/reason-view.ts';
import { type PlannedNode, type PreparedRollout, prepareRollout, type RolloutSources } from './prepare-rollout.ts';

/** What a rollout would do, and every rule it breaks; nothing is changed. The canaries of the real one are drawn anew. */
export async function planRollout(
  db: Db,
  sources: RolloutSources,
  request: CreateRolloutRequest,
): Promise<RolloutPlanView> {
  const prepared = await prepareRollout(db, sources, request, randomUUID());
  return planView(prepared);
}

/** What is known of a prepared rollout, as people read it. */
export function planView(prepared: PreparedRollout): RolloutPlanView {
  const { draft, nodes, violations } = prepared;
  const { request, upgrade } = draft;
  const eligible = nodes.filter(({ eligibility }) => eligibility.kind === 'eligible');
  return {
    chain_profile_id: request.chain_profile_id,
    binary_name: upgrade.binary_name,
    target_version: upgrade.target_version,
    target_binary_url: upgrade.target_binary_url,
    target_binary_checksum: upgrade.target_binary_checksum || null,
    artifacts: (upgrade.artifacts ?? null) as RolloutPlanView['artifacts'],
    migration_type: upgrade.migration_type,
    rollback_tier: rollbackTier(upgrade.migration_type).tier,
    manifest_content_hash: upgrade.manifest_content_hash,
    config_paths: draft.configChanges.map(({ path }) => path),
    batches: batches(request, eligible),
    ineligible: nodes.flatMap(({ id, name, eligibility }) =>
      eligibility.kind === 'skipped' ? [{ node_id: id, node_name: name, reason: reasonView(eligibility.reason) }] : [],
    ),
    sources: sourcesOf(eligible),
    failures_allowed: failuresAllowed(request, eligible.length),
    warnings: warnings(prepared, eligible),
    violations: [...violations],
  };
}

function batches(request: CreateRolloutRequest, eligible: readonly PlannedNode[]): RolloutPlanView['batches'] {
  const { strategy, batch_size: batchSize, canary_size: canarySize } = request;
  const byId = new Map(eligible.map((node) => [node.id, node]));
  const plan = planBatches({ strategy, batchSize, canarySize, seed: 'plan', nodes: [...byId.keys()] });
  const result: RolloutPlanView['batches'] = [];
  for (const [nodeId, index] of [...plan].sort(([, one], [, other]) => one - other)) {
    const node = byId.get(nodeId);
    if (!node) continue;
    const batch = result[index] ?? { index, canary: strategy === 'canary' && index === 0, nodes: [] };
    result[index] = batch;
    batch.nodes.push({ node_id: node.id, node_name: node.name, source_version: node.version, online: node.online });
  }
  return result;
}

function sourcesOf(nodes: readonly PlannedNode[]): RolloutPlanView['sources'] {
  const counts = new Map<string | null, number>();
  for (const { version } of nodes) counts.set(version, (counts.get(version) ?? 0) + 1);
  return [...counts].map(([version, count]) => ({ version, nodes: count }));
}

/** How many failures are borne when all nodes have been attempted; null: any number. */
function failuresAllowed(request: CreateRolloutRequest, eligible: number): number | null {
  if (request.force_continue) return null;
  const byRatio = Math.floor(request.failure_threshold * eligible + 1e-9);
  return Math.min(byRatio, request.max_failures ?? byRatio);
}

function warnings({ draft }: PreparedRollout, eligible: readonly PlannedNode[]): string[] {
  const { request, upgrade } = draft;
  const found: string[] = [];
  if (upgrade.migration_type === 'compatible' && request.strategy !== 'canary') {
    found.push('The migration is compatible, not none: the canary strategy is recommended.');
  }
  if (request.strategy === 'canary' && eligible.length > request.canary_size) {
    found.push('The canaries are drawn at random when the rollout starts; the nodes shown are one such draw.');
  }
  if (eligible.length === 0) found.push('No node can be upgraded now, so a start would be refused.');
  const unknown = eligible.filter(({ version }) => version === null);
  if (unknown.length > 0) {
    const names = unknown.map(({ name }) => name).join(', ');
    found.push(`Nobody has named what runs on ${names}: a rollback needs the backup on the host.`);
  }
  const others = eligible.filter(({ version }) => version !== null && version !== request.source_version);
  if (request.source_version !== undefined && others.length > 0) {
    found.push(
      `${others.map(({ name, version }) => `${name} (${version})`).join(', ')} do not run ${request.source_version}.`,
    );
  }
  return found;
}
