import type { FieldError } from '@hoodcloud/contracts/http/problem';
import type { CreateRolloutRequest } from '@hoodcloud/contracts/http/rollout-requests';
import type { Eligibility } from '@hoodcloud/domain/eligibility';
import { checkRolloutRules } from '@hoodcloud/domain/rollout-rules';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { isOnline } from '../nodes/liveness.ts';
import { LargestConfigs } from './config-size.ts';
import { databaseNow } from './database-clock.ts';
import { judgeTargets, type TargetSources, type TargetSpec, targetNodeIds } from './judge-targets.ts';
import { draftRollout, type RolloutDraft, type RolloutFiles } from './rollout-draft.ts';
import { fieldsOf, targetArtifacts } from './target-artifacts.ts';

export interface RolloutSources {
  readonly files: RolloutFiles;
  readonly targets: TargetSources;
}

/** A node the request is about, as it is now. */
export interface PlannedNode {
  readonly id: string;
  readonly name: string;
  readonly online: boolean;
  readonly chainProfileId: string;
  /** null: nobody has named what runs on it. */
  readonly version: string | null;
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
  readonly activeOwner: ChainOwner | null;
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
  const violations = [
    ...draft.problems,
    ...nodeProblems(request, nodes),
    ...largest.problems(draft.configChanges.length),
    ...brokenRules(draft, nodes, activeOwner),
  ];
  return { draft, nodes, activeOwner, violations };
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
  const judged = await judgeTargets(db, sources, spec, nodeIds, now);
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
        online,
        eligibility,
      },
    ];
  });
}

/** Which nodes a draft is for and what they become. @param id of the rollout, or of what it would be part of */
export function targetSpecOf(
  { request, upgrade, configChanges }: Omit<RolloutDraft, 'problems'>,
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
    .select(['n.id', 'n.name', 'n.chain_profile_id', 'n.last_heartbeat_at', 's.binary_version'])
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
