import type { ChainProfile, ChainRuntime } from '@hoodcloud/contracts/files/chain-profile';
import type { VendorHookFile } from '@hoodcloud/contracts/files/vendor-hook';
import { MAX_HOOKS } from '@hoodcloud/contracts/files/vendor-hook';
import type { FieldError } from '@hoodcloud/contracts/http/problem';
import { AGENT_BINARY_NAME } from '@hoodcloud/domain/agent-binary';
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

/** What is asked on the host before the node is stopped. An upgrade of the agent stops no node. */
export function dutyQuestions({ duties }: Pick<ChainProfile, 'duties'>, binaryName: string | null): VendorHook[] {
  if (binaryName === null || binaryName === AGENT_BINARY_NAME) return [];
  return duties.flatMap(({ name, ask }) => {
    if (!ask || (ask.binaries && !ask.binaries.includes(binaryName))) return [];
    return [
      {
        name,
        at: 'duty',
        command: ask.command,
        timeoutMs: Math.round(ask.timeout_seconds * 1000),
        undo: null,
        repeatable: true,
        askAgain: { exitCodes: ask.ask_again, longestWaitMs: Math.round(ask.longest_wait_seconds * 1000) },
      },
    ];
  });
}

/** As a rollout was created with them: a file that changes later changes no rollout. */
export function storedHooks({ hooks }: Pick<RolloutRow, 'hooks'>): readonly VendorHook[] {
  return hooks as unknown as VendorHook[];
}

/** What stands against a rollout with these steps, each thing in a sentence. */
export function hookProblems(hooks: readonly VendorHook[], rollout: { readonly acknowledged: boolean }): FieldError[] {
  if (hooks.length === 0) return [];
  const problems: FieldError[] = [];
  const found = (field: string, code: string, message: string) => problems.push({ field, code, message });
  const names = hooks.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    found(
      'hooks',
      'hook_named_twice',
      `The chain's files and the manifest have two hooks or duties ${twice}: rename one.`,
    );
  }
  if (hooks.length > MAX_HOOKS) found('hooks', 'too_many_hooks', `${hooks.length} hooks are more than ${MAX_HOOKS}.`);
  const forGood = hooks.filter(({ at, undo }) => undo === null && at !== 'duty').map(({ name }) => name);
  if (forGood.length > 0 && !rollout.acknowledged) {
    const message = `Nothing undoes the hook ${forGood.join(', ')}: a node that goes back keeps what it did. Give acknowledge_state_risk: true.`;
    found('acknowledge_state_risk', 'hook_undo_not_acknowledged', message);
  }
  return problems;
}
