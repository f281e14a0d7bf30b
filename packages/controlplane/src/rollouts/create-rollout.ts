import { randomUUID } from 'node:crypto';
import type { CreateRolloutRequest } from '@hoodcloud/contracts/http/rollout-requests';
import type { Db } from '../db/database.ts';
import { json } from '../db/json.ts';
import { appendEvent } from '../events/append-event.ts';
import { batchOrderOf } from './batch-order-of.ts';
import { type ChainOwner, type PreparedRollout, prepareRollout, type RolloutSources } from './prepare-rollout.ts';
import { noteSeen } from './release-trust.ts';
import type { RolloutDraft } from './rollout-draft.ts';
import { RolloutActiveError, RolloutRulesError } from './rollout-errors.ts';

/**
 * Creates a pending rollout: its row, the chain's owner and the event in the caller's transaction (C2).
 * @returns its id
 * @throws RolloutRulesError with everything that is wrong at once, RolloutActiveError when only the chain is taken
 */
export async function createRollout(
  tx: Db,
  sources: RolloutSources,
  request: CreateRolloutRequest,
  actor: string,
): Promise<string> {
  const id = randomUUID();
  await createPrepared(tx, await prepareRollout(tx, sources, request, id), { id, actor });
  return id;
}

/** Creates a pending rollout from what was looked at already, in the same transaction. @throws as `createRollout` */
export async function createPrepared(
  tx: Db,
  prepared: PreparedRollout,
  { id, actor }: { readonly id: string; readonly actor: string },
): Promise<void> {
  refuseBroken(prepared);
  await takeChain(tx, prepared.draft.request.chain_profile_id, { type: 'rollout', id });
  await insertRollout(tx, prepared.draft, { id, actor, group: null });
}

/** What a rollout's row is made from: a draft that breaks no rule. */
export type AcceptedDraft = Omit<RolloutDraft, 'problems' | 'trust'>;

export interface NewRollout {
  readonly id: string;
  readonly actor: string;
  /** The group whose component it is; null: it stands alone. */
  readonly group: { readonly id: string; readonly componentIndex: number } | null;
}

function refuseBroken({ violations, activeOwner, draft }: PreparedRollout): void {
  const others = violations.filter(({ rule }) => rule !== 5);
  if (others.length > 0) throw new RolloutRulesError(violations);
  if (violations.length > 0) throw new RolloutActiveError(draft.request.chain_profile_id, activeOwner);
}

/**
 * Makes the chain belong to a rollout or a group (C2). The database decides when two come at once; the loser waits here
 * for the winner's commit.
 * @throws RolloutActiveError when it belongs to another one
 */
export async function takeChain(tx: Db, chainProfileId: string, by: ChainOwner): Promise<void> {
  const taken = await tx
    .insertInto('active_chains')
    .values({ chain_profile_id: chainProfileId, owner_type: by.type, owner_id: by.id })
    .onConflict((conflict) => conflict.doNothing())
    .returning('owner_id')
    .executeTakeFirst();
  if (taken) return;
  const owner = await tx
    .selectFrom('active_chains')
    .select(['owner_type as type', 'owner_id as id'])
    .where('chain_profile_id', '=', chainProfileId)
    .executeTakeFirst();
  throw new RolloutActiveError(chainProfileId, owner ?? null);
}

/** What the request says of the order; null when nothing. */
function storedOrder(request: CreateRolloutRequest) {
  const order = batchOrderOf(request);
  return Object.values(order).some((part) => part !== undefined) ? json(order) : null;
}

/** Inserts a pending rollout with its event. */
export async function insertRollout(tx: Db, draft: AcceptedDraft, { id, actor, group }: NewRollout): Promise<void> {
  const { request, upgrade } = draft;
  const { binary_name, target_version, target_binary_url, manifest_content_hash } = upgrade;
  if (binary_name === null || target_version === null || target_binary_url === null || manifest_content_hash === null) {
    throw new Error('a rollout without target passed the rules');
  }
  await tx
    .insertInto('rollouts')
    .values({
      id,
      name: request.name ?? null,
      group_id: group?.id ?? null,
      component_index: group?.componentIndex ?? 0,
      chain_profile_id: request.chain_profile_id,
      node_type: request.node_type,
      upgrade_id: request.upgrade_id ?? null,
      binary_name,
      source_version: request.source_version ?? null,
      target_version,
      artifact_kind: draft.artifactKind,
      target_binary_url,
      target_binary_checksum: upgrade.target_binary_checksum,
      target_artifact_member: upgrade.target_artifact_member,
      target_artifact_signature: upgrade.target_artifact_signature && json(upgrade.target_artifact_signature),
      artifacts: upgrade.artifacts && json(upgrade.artifacts),
      strategy: request.strategy,
      batch_size: request.batch_size,
      canary_size: request.canary_size,
      batch_order: storedOrder(request),
      failure_classes: request.failure_classes ? json(request.failure_classes) : null,
      failure_threshold: request.failure_threshold,
      max_failures: request.max_failures ?? null,
      min_attempted: request.min_attempted,
      max_in_flight: request.max_in_flight ?? null,
      health_wait_ms: draft.healthWaitMs,
      force_continue: request.force_continue,
      skip_validation: request.skip_validation,
      offline_policy: request.offline_policy,
      retry_failed: request.retry_failed,
      late_nodes: request.late_nodes,
      start_at_height: request.start_at_height ?? null,
      start_at: request.start_at ? new Date(request.start_at) : null,
      windows: request.windows ? json(request.windows) : null,
      stage: request.stage,
      activation: request.activation,
      drift_policy: upgrade.drift_policy,
      link_policy: upgrade.link_policy,
      hooks: json(upgrade.hooks),
      release_name: upgrade.release_name,
      released_at: upgrade.released_at,
      migration_type: upgrade.migration_type,
      recovery_plan: upgrade.recovery_plan,
      acknowledge_state_risk: request.acknowledge_state_risk,
      two_person_approval: draft.twoPersonApproval,
      start_approval: draft.startApproval,
      manifest_key: upgrade.manifest_key,
      config_changes: json(draft.configChanges),
      manifest_content_hash,
      node_ids: request.node_ids ?? null,
      created_by: actor,
    })
    .execute();
  await noteSeen(tx, upgrade);
  await appendEvent(tx, {
    kind: 'rollout_created',
    subjectType: 'rollout',
    subjectId: id,
    rolloutId: id,
    actor,
    data: { chain_profile_id: request.chain_profile_id, target_version, strategy: request.strategy },
  });
}
