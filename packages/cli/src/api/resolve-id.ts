import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { Page } from '@hoodcloud/contracts/http/common';
import type { NodeView } from '@hoodcloud/contracts/http/nodes';
import type { RolloutGroupView } from '@hoodcloud/contracts/http/rollout-groups';
import type { SavedPlanView } from '@hoodcloud/contracts/http/rollout-plans';
import type { RolloutNodeView, RolloutView } from '@hoodcloud/contracts/http/rollout-views';
import { CliError } from '../cli-error.ts';
import { allPages } from './all-pages.ts';
import type { ApiClient } from './api-client.ts';

/** An id in full, which needs no looking up. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * A rollout by its id, the beginning of its id, or `latest`.
 * @throws CliError when none or several match
 */
export async function resolveRolloutId(api: ApiClient, given: string): Promise<string> {
  if (UUID.test(given)) return given;
  const { items } = await api.get<Page<RolloutView>>(PATHS.rollouts, { limit: 100 });
  const found = given === 'latest' ? items.slice(0, 1) : items.filter(({ id }) => id.startsWith(given));
  return only(found, `rollout "${given}"`, 'hoodctl rollout list').id;
}

/**
 * A group by its id, the beginning of its id, or `latest`.
 * @throws CliError when none or several match
 */
export async function resolveGroupId(api: ApiClient, given: string): Promise<string> {
  if (UUID.test(given)) return given;
  const { items } = await api.get<Page<RolloutGroupView>>(PATHS.groups, { limit: 100 });
  const found = given === 'latest' ? items.slice(0, 1) : items.filter(({ id }) => id.startsWith(given));
  return only(found, `group "${given}"`, 'hoodctl group list').id;
}

/**
 * A saved plan by its id, the beginning of its id, or `latest`.
 * @throws CliError when none or several match
 */
export async function resolvePlanId(api: ApiClient, given: string): Promise<string> {
  if (UUID.test(given)) return given;
  const { items } = await api.get<Page<SavedPlanView>>(PATHS.savedPlans, { limit: 100 });
  const found = given === 'latest' ? items.slice(0, 1) : items.filter(({ id }) => id.startsWith(given));
  return only(found, `plan "${given}"`, 'hoodctl plan list').id;
}

/** A node by its id or name. @throws CliError when there is none */
export async function resolveNodeId(api: ApiClient, given: string): Promise<string> {
  if (UUID.test(given)) return given;
  const nodes = await allPages<NodeView>(api, PATHS.nodes);
  const named = nodes.filter(({ name }) => name === given);
  return only(named, `node "${given}"`, 'hoodctl node list').id;
}

/** A rollout's node by its id or name. @throws CliError when the rollout has no such node */
export async function resolveRolloutNodeId(api: ApiClient, rolloutId: string, given: string): Promise<string> {
  if (UUID.test(given)) return given;
  const nodes = await allPages<RolloutNodeView>(api, PATHS.rolloutNodes(rolloutId));
  const named = nodes.filter(({ node_name }) => node_name === given);
  return only(named, `node "${given}" in this rollout`, `hoodctl rollout nodes ${rolloutId}`).node_id;
}

function only<Item>(found: readonly Item[], what: string, next: string): Item {
  const [first, second] = found;
  if (first === undefined) throw new CliError(`There is no ${what}.`, { next });
  if (second !== undefined) throw new CliError(`More than one matches ${what}: give more of the id.`, { next });
  return first;
}
