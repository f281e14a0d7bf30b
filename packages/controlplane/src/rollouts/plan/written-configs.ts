import { createHash } from 'node:crypto';
import { bareSha256 } from '@hoodcloud/domain/checksum';
import { TemplateError } from '../../config-rendering/go-template-renderer.ts';
import type { ConfigSource } from '../../config-rendering/masked-render.ts';
import { type RenderedNode, type TemplateRenderer, templateVars } from '../../config-rendering/render-configs.ts';
import { parseConfigChanges, type StoredConfigChange } from '../../config-rendering/stored-config-change.ts';
import type { Db } from '../../db/database.ts';
import type { RolloutDraft } from '../rollout-draft.ts';

/** Older rollouts than these have left nothing on a host that a newer one did not overwrite. */
const MOST_ROLLOUTS = 10;

interface Written {
  readonly rollout: ConfigSource['rollout'];
  readonly changes: readonly StoredConfigChange[];
}

/**
 * What earlier rollouts wrote into config files. No content is kept anywhere: what a rollout wrote is rendered once more from
 * what it was created with (E3), and counts only when its hash is that of the file on the host.
 */
export class WrittenConfigs {
  readonly #renderer: TemplateRenderer;
  readonly #rollouts: readonly Written[];

  private constructor(renderer: TemplateRenderer, rollouts: readonly Written[]) {
    this.#renderer = renderer;
    this.#rollouts = rollouts;
  }

  static async load(db: Db, renderer: TemplateRenderer, { request, upgrade }: RolloutDraft): Promise<WrittenConfigs> {
    const rows = await db
      .selectFrom('rollouts')
      .select(['config_changes', 'chain_profile_id', 'binary_name', 'target_version'])
      .where('chain_profile_id', '=', request.chain_profile_id)
      .where('binary_name', '=', upgrade.binary_name ?? '')
      .where('started_at', 'is not', null)
      .where((where) => where(where.fn<number>('jsonb_array_length', ['config_changes']), '>', 0))
      .orderBy('started_at', 'desc')
      .limit(MOST_ROLLOUTS)
      .execute();
    const written = rows.map((rollout) => ({ rollout, changes: parseConfigChanges(rollout.config_changes) }));
    return new WrittenConfigs(renderer, written);
  }

  /** Which rollout wrote the file that stands there; null when none did, or the node's variables are others by now. */
  async find(node: RenderedNode, path: string, checksum: string): Promise<ConfigSource | null> {
    for (const { rollout, changes } of this.#rollouts) {
      const change = changes.find((one) => one.path === path);
      if (!change) continue;
      const source = { rollout, change, node };
      if ((await this.#hash(source)) === bareSha256(checksum)) return source;
    }
    return null;
  }

  async #hash({ rollout, change, node }: ConfigSource): Promise<string | null> {
    try {
      const vars = templateVars(change, rollout, node);
      const text = await this.#renderer.render({ name: change.template, text: change.text, vars });
      return createHash('sha256').update(text, 'utf8').digest('hex');
    } catch (error) {
      // the node has lost a variable that the template of that time needs
      if (error instanceof TemplateError) return null;
      throw error;
    }
  }
}
