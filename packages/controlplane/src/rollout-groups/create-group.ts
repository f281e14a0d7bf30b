import { randomUUID } from 'node:crypto';
import type { CreateRolloutGroupRequest, RolloutGroupPlanView } from '@hoodcloud/contracts/http/rollout-groups';
import type { Db } from '../db/database.ts';
import { json } from '../db/json.ts';
import { appendEvent } from '../events/append-event.ts';
import { takeChain } from '../rollouts/create-rollout.ts';
import type { RolloutSources } from '../rollouts/prepare-rollout.ts';
import { RolloutActiveError } from '../rollouts/rollout-errors.ts';
import { planView } from '../rollouts/rollout-plan.ts';
import { GroupRulesError } from './group-errors.ts';
import { type PreparedComponent, type PreparedGroup, prepareGroup } from './prepare-group.ts';
import type { StoredComponent } from './stored-component.ts';

/**
 * Creates a pending group: its row with all that its components become, the chain's owner and the event in the caller's
 * transaction (C2). Manifests and templates are read now and never again (E3).
 * @returns its id
 * @throws GroupRulesError with everything that is wrong at once, RolloutActiveError when only the chain is taken
 */
export async function createGroup(
  tx: Db,
  sources: RolloutSources,
  request: CreateRolloutGroupRequest,
  actor: string,
): Promise<string> {
  const id = randomUUID();
  const prepared = await prepareGroup(tx, sources, request, id);
  refuseBroken(request, prepared);
  const { failure_policy } = request;
  if (failure_policy === undefined) throw new Error('a group without a failure policy passed the rules');
  await takeChain(tx, request.chain_profile_id, { type: 'rollout_group', id });
  await tx
    .insertInto('rollout_groups')
    .values({
      id,
      chain_profile_id: request.chain_profile_id,
      node_type: request.node_type,
      failure_policy,
      component_order: json(prepared.components.map(stored)),
      desired_versions: json(request.desired_versions),
      strategy: request.strategy,
      gate_timeout_ms: request.gate_timeout_ms,
      created_by: actor,
    })
    .execute();
  await appendEvent(tx, {
    kind: 'group_created',
    subjectType: 'rollout_group',
    subjectId: id,
    actor,
    data: {
      chain_profile_id: request.chain_profile_id,
      failure_policy,
      desired_versions: request.desired_versions,
    },
  });
  return id;
}

/** What a group would do, and every rule it breaks; nothing is changed. */
export async function planGroup(
  db: Db,
  sources: RolloutSources,
  request: CreateRolloutGroupRequest,
): Promise<RolloutGroupPlanView> {
  const { components, violations } = await prepareGroup(db, sources, request, randomUUID());
  // who may ask for it may create groups
  const plans = components.map(({ prepared }) => planView(db, sources, prepared, { mayCreate: true }));
  const views = await Promise.all(plans);
  return {
    chain_profile_id: request.chain_profile_id,
    failure_policy: request.failure_policy ?? null,
    components: views.map((plan, position) => ({
      component_index: components[position]?.componentIndex ?? position,
      binary_name: components[position]?.binaryName ?? '',
      plan,
    })),
    violations: [...violations],
  };
}

function refuseBroken(request: CreateRolloutGroupRequest, { violations, activeOwner }: PreparedGroup): void {
  const others = violations.filter(({ rule }) => rule !== 5);
  if (others.length > 0) throw new GroupRulesError(violations);
  if (violations.length > 0) throw new RolloutActiveError(request.chain_profile_id, activeOwner);
}

function stored({ componentIndex, binaryName, prepared: { draft } }: PreparedComponent): StoredComponent {
  const { problems: _, ...accepted } = draft;
  return { component_index: componentIndex, binary_name: binaryName, draft: accepted };
}
