import type { FieldError } from '@hoodcloud/contracts/http/problem';
import { MAX_CONFIG_BYTES, MAX_CONFIG_FILES } from '@hoodcloud/contracts/wire/message-limits';
import type { RenderConfigs, RenderedConfig } from './chain-facts.ts';

/** What a wanted rollout would write on each node, and the largest set of it: what one command must carry. */
export class LargestConfigs {
  #configs: readonly RenderedConfig[] = [];
  #all: ReadonlyMap<string, readonly RenderedConfig[]> = new Map();

  /** By node id: everything that was rendered last. */
  get all(): ReadonlyMap<string, readonly RenderedConfig[]> {
    return this.#all;
  }

  /** Renders as before, and looks at what comes out. */
  watching(render: RenderConfigs): RenderConfigs {
    return async (rollout, nodeIds) => {
      const rendered = await render(rollout, nodeIds);
      this.#all = rendered;
      for (const configs of rendered.values()) {
        if (totalBytes(configs) > totalBytes(this.#configs)) this.#configs = configs;
      }
      return rendered;
    };
  }

  /** What no command can carry to an agent, found before any node is touched; names the field that is too large. */
  problems(changeCount: number): FieldError[] {
    if (changeCount > MAX_CONFIG_FILES) {
      const message = `${changeCount} config files are more than the ${MAX_CONFIG_FILES} that one upgrade may change.`;
      return [{ field: 'config_changes', code: 'too_many', message }];
    }
    const total = totalBytes(this.#configs);
    if (total <= MAX_CONFIG_BYTES) return [];
    const tooLarge = this.#configs.flatMap(({ path, content }, index): FieldError[] => {
      if (content.length <= MAX_CONFIG_BYTES) return [];
      const message = `${path} has ${megabytes(content.length)} MB when it is rendered and a command carries ${megabytes(MAX_CONFIG_BYTES)} MB: make it smaller.`;
      return [{ field: `config_changes.${index}`, code: 'too_large', message }];
    });
    if (tooLarge.length > 0) return tooLarge;
    const message = `The rendered config files have ${megabytes(total)} MB together and a command carries ${megabytes(MAX_CONFIG_BYTES)} MB: change them in several upgrades.`;
    return [{ field: 'config_changes', code: 'too_large', message }];
  }
}

function totalBytes(configs: readonly RenderedConfig[]): number {
  return configs.reduce((sum, { content }) => sum + content.length, 0);
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
