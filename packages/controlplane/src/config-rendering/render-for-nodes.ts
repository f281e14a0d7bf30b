import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { type RenderedConfig, type RenderedRollout, renderConfigs, type TemplateRenderer } from './render-configs.ts';
import { parseConfigChanges } from './stored-config-change.ts';

/** Renders a rollout's config changes for many nodes. */
export type RenderForNodes = (
  rollout: RenderedRollout,
  nodeIds: readonly string[],
) => Promise<Map<string, readonly RenderedConfig[]>>;

/** Renders by node id; without config changes nothing is read or rendered, and every list is empty. */
export function renderForNodes(db: Db, renderer: TemplateRenderer): RenderForNodes {
  return async (rollout, nodeIds) => {
    if (parseConfigChanges(rollout.config_changes).length === 0) return new Map(nodeIds.map((id) => [id, []]));
    const nodes = await db
      .selectFrom('nodes')
      .select(['id', 'name', 'node_type', 'variables'])
      .where('id', '=', sql<string>`any(${[...nodeIds]}::uuid[])`)
      .execute();
    const rendered = await Promise.all(
      nodes.map(async (node) => [node.id, await renderConfigs(renderer, rollout, node)] as const),
    );
    return new Map(rendered);
  };
}
