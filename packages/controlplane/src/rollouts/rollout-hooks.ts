import type { ChainRuntime } from '@hoodcloud/contracts/files/chain-profile';
import type { VendorHookFile } from '@hoodcloud/contracts/files/vendor-hook';
import { MAX_HOOKS } from '@hoodcloud/contracts/files/vendor-hook';
import type { FieldError } from '@hoodcloud/contracts/http/problem';
import type { ArtifactKind } from '@hoodcloud/domain/rollout-rules';
import type { VendorHook } from '@hoodcloud/domain/vendor-hook';
import type { RolloutRow } from './rollout-row.ts';

/** Steps of the vendor of one upgrade, in their order: the chain's, the binary's, the manifest's. */
export function hooksOf(
  runtime: ChainRuntime | null,
  binaryName: string,
  ofManifest: readonly VendorHookFile[],
): VendorHook[] {
  const files = [...(runtime?.hooks ?? []), ...(runtime?.binaries[binaryName]?.hooks ?? []), ...ofManifest];
  return files.map(({ name, at, command, timeout_seconds, undo, repeatable }) => ({
    name,
    at,
    command,
    timeoutMs: Math.round(timeout_seconds * 1000),
    undo: undo === 'none' ? null : undo,
    repeatable,
  }));
}

/** As a rollout was created with them: a file that changes later changes no rollout. */
export function storedHooks({ hooks }: Pick<RolloutRow, 'hooks'>): readonly VendorHook[] {
  return hooks as unknown as VendorHook[];
}

/** What stands against a rollout with these steps, each thing in a sentence. */
export function hookProblems(
  hooks: readonly VendorHook[],
  rollout: { readonly artifactKind: ArtifactKind; readonly acknowledged: boolean },
): FieldError[] {
  if (hooks.length === 0) return [];
  const problems: FieldError[] = [];
  const found = (field: string, code: string, message: string) => problems.push({ field, code, message });
  const names = hooks.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    found(
      'hooks',
      'hook_named_twice',
      `The chain's runtime.yaml and the manifest both have a hook ${twice}: rename one.`,
    );
  }
  if (hooks.length > MAX_HOOKS) found('hooks', 'too_many_hooks', `${hooks.length} hooks are more than ${MAX_HOOKS}.`);
  if (rollout.artifactKind === 'image') {
    found('hooks', 'hooks_unsupported', 'Hooks are not run in containers yet: leave them out for this binary.');
  }
  const forGood = hooks.filter(({ undo }) => undo === null).map(({ name }) => name);
  if (forGood.length > 0 && !rollout.acknowledged) {
    const message = `Nothing undoes the hook ${forGood.join(', ')}: a node that goes back keeps what it did. Give acknowledge_state_risk: true.`;
    found('acknowledge_state_risk', 'hook_undo_not_acknowledged', message);
  }
  return problems;
}
