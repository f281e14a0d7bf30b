import { type RenderedNode, type RenderedRollout, templateVars } from './render-configs.ts';
import { isSecretVariable, maskLiterals, maskOf } from './secret-masks.ts';
import type { StoredConfigChange } from './stored-config-change.ts';

/** A config file as one rollout makes it for one node. */
export interface ConfigSource {
  readonly rollout: RenderedRollout;
  readonly change: StoredConfigChange;
  readonly node: RenderedNode;
}

/** Renders one template with these overrides on top of everything else. */
export type RenderWith = (source: ConfigSource, overrides: Readonly<Record<string, string>>) => Promise<string>;

export interface MaskedConfig {
  readonly text: string;
  /** Whether anything was masked in this text or the one before. */
  readonly secrets: boolean;
}

/** Values of fewer characters stand in too many places by chance. */
const LEAST_SECRET_LENGTH = 6;

/**
 * What stands in a file before and after, for people: the templates are rendered with masks in place of the secrets'
 * values, so that no value gets into the text, whatever a template makes of it. A secret that changes is told as new.
 * @param before null: unknown, or nothing
 */
export async function renderMasked(
  render: RenderWith,
  before: ConfigSource | null,
  after: ConfigSource,
): Promise<{ readonly before: MaskedConfig; readonly after: MaskedConfig }> {
  const [old, next] = [before ? secretsOf(before, after) : new Map<string, string>(), secretsOf(after, before)];
  const unchanged = (name: string) => before === null || old.get(name) === next.get(name);
  const values = [...old, ...next];
  const oldText = before
    ? withoutValues(
        await render(
          before,
          masks(old, () => true),
        ),
        values,
      )
    : '';
  const newText = withoutValues(await render(after, masks(next, unchanged)), values);
  const oldMasked = maskLiterals(oldText, null);
  const newMasked = maskLiterals(newText, before ? oldMasked.values : null);
  return {
    before: { text: oldMasked.text, secrets: oldMasked.values.size > 0 || old.size > 0 },
    after: { text: newMasked.text, secrets: newMasked.values.size > 0 || next.size > 0 },
  };
}

/** By name: the values of secret variables that aren't empty. What either rollout calls secret is so in both. */
function secretsOf({ rollout, change, node }: ConfigSource, other: ConfigSource | null): Map<string, string> {
  const named = [...change.secret_variables, ...(other?.change.secret_variables ?? [])];
  const variables = Object.entries(templateVars(change, rollout, node));
  return new Map(variables.filter(([name, value]) => value !== '' && isSecretVariable(name, named)));
}

function masks(
  secrets: ReadonlyMap<string, string>,
  unchanged: (name: string) => boolean,
): Readonly<Record<string, string>> {
  return Object.fromEntries([...secrets.keys()].map((name) => [name, maskOf(name, !unchanged(name))]));
}

/** A value that a template or another variable holds once more, outside of its variable. */
function withoutValues(text: string, secrets: readonly (readonly [string, string])[]): string {
  return secrets.reduce(
    (masked, [name, value]) =>
      value.length < LEAST_SECRET_LENGTH ? masked : masked.replaceAll(value, maskOf(name, false)),
    text,
  );
}
