import { createHash } from 'node:crypto';
import type { TemplateRequest } from './go-template-renderer.ts';
import { parseConfigChanges, type StoredConfigChange } from './stored-config-change.ts';

/** What renders one template; `GoTemplateRenderer` in the product. */
export interface TemplateRenderer {
  render(request: TemplateRequest): Promise<string>;
}

/** A file as the agent is to write it. */
export interface RenderedConfig {
  readonly path: string;
  readonly content: Buffer;
  /** `sha256:<hex>` of the content. */
  readonly checksum: string;
}

/** The columns of `rollouts` that rendering reads. */
export interface RenderedRollout {
  readonly config_changes: unknown;
  readonly chain_profile_id: string;
  readonly binary_name: string;
  readonly target_version: string;
}

/** The columns of `nodes` that rendering reads. */
export interface RenderedNode {
  readonly id: string;
  readonly name: string;
  readonly node_type: string;
  readonly variables: unknown;
}

/**
 * Renders every config file that a rollout changes for one node (spec "Config Rendering Pipeline"). Variables, the later
 * ones win: what is known of node and rollout, the chain's, the node's own, the manifest's overrides.
 * @throws TemplateError naming template, line and column; a missing variable is an error (E1)
 */
export async function renderConfigs(
  renderer: TemplateRenderer,
  rollout: RenderedRollout,
  node: RenderedNode,
): Promise<RenderedConfig[]> {
  return Promise.all(
    parseConfigChanges(rollout.config_changes).map(async (change) => {
      const vars = templateVars(change, rollout, node);
      const text = await renderer.render({ name: change.template, text: change.text, vars });
      const content = Buffer.from(text, 'utf8');
      const checksum = `sha256:${createHash('sha256').update(content).digest('hex')}`;
      return { path: change.path, content, checksum };
    }),
  );
}

/** The variables of one template; all are texts. */
export function templateVars(
  change: Pick<StoredConfigChange, 'variables' | 'overrides'>,
  rollout: RenderedRollout,
  node: RenderedNode,
): Record<string, string> {
  return {
    node_id: node.id,
    node_name: node.name,
    node_type: node.node_type,
    chain_profile_id: rollout.chain_profile_id,
    binary_name: rollout.binary_name,
    target_version: rollout.target_version,
    ...change.variables,
    ...(node.variables as Record<string, string>),
    ...change.overrides,
  };
}
