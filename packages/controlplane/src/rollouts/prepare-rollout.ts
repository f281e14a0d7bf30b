import type { FieldError } from '@hoodcloud/contracts/http/problem';
import type { CreateRolloutRequest } from '@hoodcloud/contracts/http/rollout-requests';
import { selectorText } from '@hoodcloud/domain/batch-order';
import type { Eligibility } from '@hoodcloud/domain/eligibility';
import { covers, type ScopedNode } from '@hoodcloud/domain/policy-scope';
import { sentenceOf } from '@hoodcloud/domain/reasons';
import { checkRolloutRules } from '@hoodcloud/domain/rollout-rules';
import { sql } from 'kysely';
import type { TemplateRenderer } from '../config-rendering/render-configs.ts';
import type { Db } from '../db/database.ts';
import { isOnline } from '../nodes/liveness.ts';
import { stageProblems } from './activation.ts';
import { batchOrderOf } from './batch-order-of.ts';
import type { RenderedConfig } from './chain-facts.ts';
import { LargestConfigs } from './config-size.ts';
import { databaseNow } from './database-clock.ts';
import { judgeTargets, type TargetSources, type TargetSpec, targetNodeIds } from './judge-targets.ts';
import { nameNodesIn } from './name-nodes.ts';
import type { ProbeArtifact } from './plan/artifact-checks.ts';
import { type ChainPower, loadChainPower, unacknowledgedShare } from './plan/power-shares.ts';
import { draftRollout, type RolloutDraft, type RolloutFiles } from './rollout-draft.ts';
import { fieldsOf, targetArtifacts } from './target-artifacts.ts';

export interface RolloutSources {
  readonly files: RolloutFiles;
  readonly targets: TargetSources;
  /** What plans alone ask. */
  readonly plans: { readonly renderer: TemplateRenderer; readonly probeArtifact: ProbeArtifact };
}

/** A node the request is about, as it is now. */
export interface PlannedNode {
  readonly id: string;
  readonly name: string;
  readonly online: boolean;
  readonly chainProfileId: string;
  /** null: nobody has named what runs on it. */
  readonly version: string | null;
  readonly scoped: ScopedNode;
  readonly eligibility: Eligibility;
}

export interface ChainOwner {
  readonly type: 'rollout' | 'rollout_group';
  readonly id: string;
}

/** Everything that creating, planning and a dry run need to know. */
export interface PreparedRollout {
  readonly draft: RolloutDraft;
  readonly nodes: readonly PlannedNode[];
  /** By node id: the config files as they would be written. */
  readonly configs: ReadonlyMap<string, readonly RenderedConfig[]>;
  readonly activeOwner: ChainOwner | null;
  /** Null: the chain guards no quorum. */
  readonly power: ChainPower | null;
  /** Every rule that is broken, and everything else that is wrong. */
  readonly violations: readonly FieldError[];
}

/**
 * Looks at a wanted rollout from all sides without changing anything.
 * @param id the id it would have; it seeds the choice of canaries
 * @throws ConfigFileNotFoundError, FileFormatError, TemplateError when a config can't be rendered for a node
 */
export async function prepareRollout(
  db: Db,
  sources: RolloutSources,
  request: CreateRolloutRequest,
  id: string,
): Promise<PreparedRollout> {
  const draft = await draftRollout(sources.files, request);
  const largest = new LargestConfigs();
  const targets = { ...sources.targets, renderConfigs: largest.watching(sources.targets.renderConfigs) };
  const nodes = await plannedNodes(db, targets, draft, id);
  const activeOwner = await ownerOf(db, request.chain_profile_id);
  const power = await loadChainPower(db, sources.targets.chains, request.chain_profile_id);
  const eligible = nodes.filter(({ eligibility }) => eligibility.kind === 'eligible').map((node) => node.id);
  const violations = [
    ...draft.problems,
    ...nodeProblems(request, nodes),
    ...(await stageProblems(sources.targets.chains, draft)),
    ...canaryProblems(request, nodes),
    ...largest.problems(draft.configChanges.length),
    ...brokenRules(draft, nodes, activeOwner),
    ...unacknowledgedShare(power, request, eligible),
  ];
  return { draft, nodes, configs: largest.all, activeOwner, power, violations };
}

/** The rollout or group that the chain belongs to now (C2). */
export async function ownerOf(db: Db, chainProfileId: string): Promise<ChainOwner | null> {
  const row = await db
    .selectFrom('active_chains')
    .select(['owner_type as type', 'owner_id as id'])
    .where('chain_profile_id', '=', chainProfileId)
    .executeTakeFirst();
  return row ?? null;
}

async function plannedNodes(db: Db, sources: TargetSources, draft: RolloutDraft, id: string): Promise<PlannedNode[]> {
  if (draft.upgrade.binary_name === null) return [];
  const spec = targetSpecOf(draft, id);
  const now = await databaseNow(db);
  const nodeIds = await targetNodeIds(db, spec);
  const judged = await named(db, await judgeTargets(db, sources, spec, nodeIds, now));
  const rows = await nodeFacts(db, spec.binary_name, nodeIds);
  return rows.flatMap((row) => {
    const eligibility = judged.get(row.id);
    if (!eligibility) return [];
    const online = isOnline(row.last_heartbeat_at, new Date(now));
    return [
      {
        id: row.id,
        name: row.name,
        chainProfileId: row.chain_profile_id,
        version: row.binary_version,
        scoped: {
          chainProfileId: row.chain_profile_id,
          nodeType: row.node_type,
          labels: row.labels as ScopedNode['labels'],
        },
        online,
        eligibility,
      },
    ];
  });
}

/** People read why a node is left out, so its reason names it. */
async function named(db: Db, judged: ReadonlyMap<string, Eligibility>): Promise<Map<string, Eligibility>> {
  const all = [...judged];
  const skipped = all.flatMap(([, one]) => (one.kind === 'skipped' ? [one.reason] : []));
  const reasons = (await nameNodesIn(db, skipped)).values();
  return new Map(
    all.map(([id, one]): [string, Eligibility] => {
      if (one.kind === 'eligible') return [id, one];
      const { value: reason = one.reason } = reasons.next();
      return [id, { ...one, reason }];
    }),
  );
}

/** Which nodes a draft is for and what they become. @param id of the rollout, or of what it would be part of */
export function targetSpecOf(
  { request, upgrade, configChanges }: Pick<RolloutDraft, 'request' | 'upgrade' | 'configChanges'>,
  id: string,
): TargetSpec {
  return {
    id,
    chain_profile_id: request.chain_profile_id,
    node_type: request.node_type,
    binary_name: upgrade.binary_name ?? '',
    target_version: upgrade.target_version ?? '',
    target_binary_url: upgrade.target_binary_url,
    target_binary_checksum: upgrade.target_binary_checksum,
    target_artifact_member: upgrade.target_artifact_member,
    target_artifact_signature: upgrade.target_artifact_signature,
    artifacts: upgrade.artifacts,
    offline_policy: request.offline_policy,
    retry_failed: request.retry_failed,
    config_changes: configChanges,
    node_ids: request.node_ids ?? null,
  };
}

function nodeFacts(db: Db, binaryName: string, nodeIds: readonly string[]) {
  return db
    .selectFrom('nodes as n')
    .leftJoin('node_config_state as s', (join) =>
      join.onRef('s.node_id', '=', 'n.id').on('s.binary_name', '=', binaryName),
    )
    .select([
      'n.id',
      'n.name',
      'n.chain_profile_id',
      'n.node_type',
      'n.labels',
      'n.last_heartbeat_at',
      's.binary_version',
    ])
    .where('n.id', '=', sql<string>`any(${[...nodeIds]}::uuid[])`)
    .orderBy('n.name')
    .execute();
}

function nodeProblems(request: CreateRolloutRequest, nodes: readonly PlannedNode[]): FieldError[] {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const problems: FieldError[] = [];
  for (const [index, id] of (request.node_ids ?? []).entries()) {
    const node = known.get(id);
    const field = `node_ids.${index}`;
    if (!node) problems.push({ field, code: 'unknown_node', message: `There is no node ${id}.` });
    else if (node.chainProfileId !== request.chain_profile_id) {
      problems.push({ field, code: 'other_chain', message: `${node.name} belongs to ${node.chainProfileId}.` });
    }
  }
  return problems;
}

/** Canaries that the request names and that can't be any. */
function canaryProblems(request: CreateRolloutRequest, nodes: readonly PlannedNode[]): FieldError[] {
  const { canary_node_ids: ids = [], canary_selector: selector } = request;
  const known = new Map(nodes.map((node) => [node.id, node]));
  const problems: FieldError[] = [];
  for (const [index, id] of ids.entries()) {
    const node = known.get(id);
    const field = `canary_node_ids.${index}`;
    if (!node) problems.push({ field, code: 'canary_not_in_rollout', message: `The rollout has no node ${id}.` });
    else if (node.eligibility.kind === 'skipped') {
      const message = `${node.name} can't be a canary: ${sentenceOf(node.eligibility.reason)}`;
      problems.push({ field, code: 'canary_ineligible', message });
    }
  }
  const fits = nodes.some(
    ({ scoped, eligibility }) => eligibility.kind === 'eligible' && covers(selector ?? {}, scoped),
  );
  if (selector === undefined || fits || nodes.length === 0) return problems;
  const message = `No node that can be upgraded fits ${selectorText(selector)}.`;
  return [...problems, { field: 'canary_selector', code: 'canary_selector_fits_none', message }];
}

/** The one version that all nodes have; null when there are several, none, or unknown ones. */
function commonVersion(nodes: readonly PlannedNode[]): string | null {
  const versions = new Set(nodes.map(({ version }) => version));
  const [only = null] = versions;
  return versions.size === 1 ? only : null;
}

function brokenRules(draft: RolloutDraft, nodes: readonly PlannedNode[], activeOwner: ChainOwner | null): FieldError[] {
  const { request, upgrade } = draft;
  const given = new Set(draft.problems.map(({ field }) => field));
  const eligible = nodes.filter(({ eligibility }) => eligibility.kind === 'eligible').length;
  const broken = checkRolloutRules({
    artifactKind: draft.artifactKind,
    sourceVersion: request.source_version ?? commonVersion(nodes),
    targetVersion: upgrade.target_version ?? '',
    artifacts: fieldsOf(targetArtifacts(upgrade)).map(({ field, artifact }) => ({ field, ...artifact })),
    configChangeCount: draft.configChanges.length,
    manifestContentHash: upgrade.manifest_content_hash,
    migrationType: upgrade.migration_type,
    recoveryPlan: upgrade.recovery_plan,
    acknowledgeStateRisk: request.acknowledge_state_risk,
    activeRolloutId: activeOwner?.id ?? null,
    strategy: request.strategy,
    order: batchOrderOf(request),
    batchSize: request.batch_size,
    canarySize: request.canary_size,
    failureThreshold: request.failure_threshold,
    maxFailures: request.max_failures ?? null,
    minAttempted: request.min_attempted,
    maxInFlight: request.max_in_flight ?? null,
    healthWaitMs: draft.healthWaitMs,
    // a chain of one node has nothing to protect behind a canary, yet a breaking migration of it needs that strategy
    eligibleNodes: eligible > 1 ? eligible : null,
  });
  return broken
    .filter(({ field }) => !given.has(field))
    .map(({ rule, code, field, message }) => ({ rule, code, field, message }));
}
