import { randomUUID } from 'node:crypto';
import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { CreateRolloutRequest } from '@hoodcloud/contracts/http/rollout-requests';
import { namedBatchText, selectorText } from '@hoodcloud/domain/batch-order';
import { type BatchPlanInput, type BatchSource, plannedBatches } from '@hoodcloud/domain/batch-plan';
import { mayComeLate } from '@hoodcloud/domain/late-nodes';
import { heldReason } from '@hoodcloud/domain/node-hold';
import { estimateRollout } from '@hoodcloud/domain/plan-estimate';
import { endangersQuorum } from '@hoodcloud/domain/plan-share';
import { sentenceOf } from '@hoodcloud/domain/reasons';
import { rollbackTier } from '@hoodcloud/domain/rollback-tier';
import { cooldownReason } from '@hoodcloud/domain/start-gates/trust';
import type { Db } from '../db/database.ts';
import { reasonView } from '../http/reason-view.ts';
import { loadHolds } from '../nodes/node-holds.ts';
import { batchOrderOf } from './batch-order-of.ts';
import { artifactChecks } from './plan/artifact-checks.ts';
import { configDiffs } from './plan/config-diffs.ts';
import { pastUpgrades } from './plan/past-upgrades.ts';
import { planSchedule } from './plan/plan-schedule.ts';
import { planShares } from './plan/plan-shares.ts';
import { powerShares } from './plan/power-shares.ts';
import { type PlannedNode, type PreparedRollout, prepareRollout, type RolloutSources } from './prepare-rollout.ts';
import { loadTrust } from './release-trust.ts';

export interface PlanOptions {
  /** The caller may create rollouts, so the addresses of the request are asked too. */
  readonly mayCreate: boolean;
  /** The rollout's id where it is known already: then the canaries shown are those that will be drawn. */
  readonly id?: string;
}

/** What a rollout would do, and every rule it breaks; nothing is changed. Without an id the real canaries are drawn anew. */
export async function planRollout(
  db: Db,
  sources: RolloutSources,
  request: CreateRolloutRequest,
  options: PlanOptions,
): Promise<RolloutPlanView> {
  const prepared = await prepareRollout(db, sources, request, options.id ?? randomUUID());
  return planView(db, sources, prepared, options);
}

/** What is known of a prepared rollout, as people read it. */
export async function planView(
  db: Db,
  { plans }: RolloutSources,
  prepared: PreparedRollout,
  { mayCreate, id }: PlanOptions,
): Promise<RolloutPlanView> {
  const { draft, nodes, violations } = prepared;
  const { request, upgrade } = draft;
  const eligible = nodes.filter(({ eligibility }) => eligibility.kind === 'eligible');
  const planned = batches(request, eligible, id ?? 'plan');
  const [checks, diffs, estimate, shares, schedule] = await Promise.all([
    artifactChecks(plans.probeArtifact, draft, mayCreate),
    configDiffs(db, plans.renderer, prepared),
    estimateOf(db, prepared, planned),
    planShares(db, request, planned),
    planSchedule(
      db,
      request,
      {
        first: planned[0]?.nodes.map(({ node_id }) => node_id) ?? [],
        all: new Map(eligible.map(({ id, scoped }) => [id, scoped])),
      },
      new Date(),
    ),
  ]);
  const view = {
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
    hooks: upgrade.hooks.map(({ name, at, command, timeoutMs, undo, askAgain }) => ({
      name,
      at,
      command: [...command],
      timeout_ms: timeoutMs,
      undo: undo === null ? null : [...undo],
      ...(askAgain && { ask_again: { exit_codes: [...askAgain.exitCodes], longest_wait_ms: askAgain.longestWaitMs } }),
    })),
    config_diffs: diffs,
    artifact_checks: checks,
    estimate,
    shares: [...shares, ...powerShares(prepared.power, request, planned)],
    schedule,
    batches: planned,
    ineligible: nodes.flatMap(({ id, name, eligibility }) =>
      eligibility.kind === 'skipped' ? [{ node_id: id, node_name: name, reason: reasonView(eligibility.reason) }] : [],
    ),
    sources: sourcesOf(eligible),
    failures_allowed: failuresAllowed(request, eligible.length),
    violations: [...violations],
  };
  const random =
    request.strategy === 'canary' &&
    request.canary_node_ids === undefined &&
    eligible.length > request.canary_size &&
    id === undefined;
  const held = await heldWarnings(db, eligible);
  return {
    ...view,
    warnings: [
      ...warnings(prepared, eligible, random),
      ...lateWarnings(prepared),
      ...(await cooldownWarnings(db, prepared)),
      ...approvalWarnings(prepared),
      ...held,
      ...orderWarnings(request, planned),
      ...risks(view, upgrade.drift_policy),
    ],
  };
}

async function estimateOf(
  db: Db,
  { draft }: PreparedRollout,
  planned: RolloutPlanView['batches'],
): Promise<RolloutPlanView['estimate']> {
  const { request, upgrade, healthWaitMs } = draft;
  const past = await pastUpgrades(db, request.chain_profile_id, upgrade.binary_name ?? '');
  if (!past) return { past_upgrades: 0, node_ms: null, downtime_ms: null, rollout_ms: null };
  const { nodeMs, rolloutMs } = estimateRollout({
    strategy: request.strategy,
    batchSizes: planned.map(({ nodes }) => nodes.length),
    maxInFlight: request.max_in_flight ?? null,
    healthWaitMs,
    skipValidation: request.skip_validation,
    past,
  });
  return { past_upgrades: past.upgrades, node_ms: nodeMs, downtime_ms: past.downtimeMs, rollout_ms: rolloutMs };
}

function batches(
  request: CreateRolloutRequest,
  eligible: readonly PlannedNode[],
  seed: string,
): RolloutPlanView['batches'] {
  const byId = new Map(eligible.map((node) => [node.id, node]));
  return plannedBatches(planInput(request, eligible, seed)).map(({ source, nodeIds }, index) => ({
    index,
    canary: source.kind === 'canary',
    of: batchOf(request, source),
    nodes: nodeIds.flatMap((id) => {
      const node = byId.get(id);
      if (!node) return [];
      return [{ node_id: id, node_name: node.name, source_version: node.version, online: node.online }];
    }),
  }));
}

function planInput(request: CreateRolloutRequest, eligible: readonly PlannedNode[], seed: string): BatchPlanInput {
  const { strategy, batch_size: batchSize, canary_size: canarySize } = request;
  const facts = new Map(eligible.map(({ id, scoped }) => [id, scoped]));
  return { strategy, batchSize, canarySize, seed, nodes: [...facts.keys()], facts, order: batchOrderOf(request) };
}

/** Which nodes a batch takes, where the request named batches. */
function batchOf({ batches: named, canary_selector }: CreateRolloutRequest, source: BatchSource): string | null {
  if (source.kind === 'canary') return canary_selector === undefined ? null : selectorText(canary_selector);
  if (named === undefined) return null;
  const batch = source.kind === 'named' ? named[source.position] : undefined;
  return batch === undefined ? 'what no batch names' : namedBatchText(batch);
}

/** Batches that would take nobody, and what comes last because none names it. */
function orderWarnings({ batches: named = [] }: CreateRolloutRequest, planned: RolloutPlanView['batches']): string[] {
  const found = named.flatMap((batch, position) => {
    const text = namedBatchText(batch);
    if (planned.some(({ of }) => of === text)) return [];
    return [`batches.${position} (${text}) takes no node: none that can be upgraded fits and is left.`];
  });
  const rest = planned.filter(({ of }) => of === 'what no batch names').flatMap(({ nodes }) => nodes);
  if (rest.length === 0) return found;
  return [
    ...found,
    `${rest.length === 1 ? '1 node that no batch names comes' : `${rest.length} nodes that no batch names come`} last.`,
  ];
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

function warnings({ draft }: PreparedRollout, eligible: readonly PlannedNode[], randomCanaries: boolean): string[] {
  const { request, upgrade } = draft;
  const found: string[] = [];
  if (upgrade.migration_type === 'compatible' && request.strategy !== 'canary') {
    found.push('The migration is compatible, not none: the canary strategy is recommended.');
  }
  if (randomCanaries) {
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

/** Nodes that are away now, and how they may come after all. */
function lateWarnings({ draft, nodes }: PreparedRollout): string[] {
  if (draft.request.late_nodes === 'ignore') return [];
  const away = nodes.flatMap(({ name, eligibility }) =>
    eligibility.kind === 'skipped' && mayComeLate(eligibility.reason.code) ? [name] : [],
  );
  const them = away.length === 0 ? 'Nodes' : `${away.join(', ')}, and nodes`;
  return [`${them} that join or come back before the rollout ends are taken after all others.`];
}

/** A release that is too young may be planned and created; its nodes wait. */
async function cooldownWarnings(db: Db, { draft }: PreparedRollout): Promise<string[]> {
  const { trust, upgrade, artifactKind } = draft;
  const facts = await loadTrust(db, trust, {
    ...upgrade,
    artifact_kind: artifactKind,
    upgrade_id: draft.request.upgrade_id ?? null,
  });
  const young = cooldownReason(facts, Date.now());
  return young === null ? [] : [sentenceOf(young.reason)];
}

/** Whoever plans it learns that a colleague will be needed, before the hour at which it should begin. */
function approvalWarnings({ draft }: PreparedRollout): string[] {
  if (!draft.startApproval) return [];
  return [
    'The chain demands two persons (trust.approvals): somebody else than who creates the rollout must approve it before its first node.',
  ];
}

/** Nodes that keep their place in the plan, though their turn waits for whoever holds them. */
async function heldWarnings(db: Db, eligible: readonly PlannedNode[]): Promise<string[]> {
  const holds = await loadHolds(
    db,
    eligible.map(({ id }) => id),
  );
  return eligible.flatMap(({ id, name }) => {
    const held = heldReason(name, holds.get(id), Date.now());
    return held === null ? [] : [`${sentenceOf(held)}. Its turn waits for that.`];
  });
}

/** What the plan itself shows to be dangerous. */
function risks(
  plan: Pick<RolloutPlanView, 'shares' | 'config_diffs' | 'artifact_checks'>,
  driftPolicy: 'fail' | 'overwrite',
): string[] {
  const found: string[] = [];
  for (const { measure, zone, batch_index, down, total } of plan.shares) {
    if (!endangersQuorum({ down, of: total })) continue;
    if (measure === 'power') {
      const held = 'the quorum guard holds nodes of it back.';
      found.push(`Batch ${batch_index} is ${Math.ceil((100 * down) / total)} % of the voting power: ${held}`);
      continue;
    }
    const where = zone === null ? 'of this chain and type' : `in zone ${zone}`;
    const share = Math.round((100 * down) / total);
    found.push(`Batch ${batch_index} takes ${down} of ${total} nodes ${where} down at once (${share} %).`);
  }
  for (const { path, nodes, change, edited_on_host } of plan.config_diffs) {
    if (!edited_on_host || change === 'unchanged') continue;
    const names = nodes.map(({ node_name }) => node_name).join(', ');
    const then =
      driftPolicy === 'fail' ? 'the upgrade fails there before anything is stopped' : 'the edit is overwritten';
    found.push(`${path} was edited on ${names}: ${then}.`);
  }
  for (const { url, state, remark } of plan.artifact_checks) {
    if (state === 'refused' || state === 'unreachable') found.push(`${url}: ${remark}`);
  }
  return found;
}
