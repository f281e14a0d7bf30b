import type { HookRunner } from './hook-contract.ts';
import { RuntimeError } from './runtime-adapter.ts';

/** What only the host knows of a component (A17). */
export interface HookPlaces {
  readonly installPath: string;
  readonly dataDir: string;
  /** Programs beside the node's own binary that its operator lets steps of the vendor run. */
  readonly hookPrograms: readonly string[];
}

/** The command with this host's places in it. */
export function withPlaces(command: readonly string[], { installPath, dataDir }: HookPlaces): string[] {
  return command.map((word) => word.replaceAll('{binary}', installPath).replaceAll('{data_dir}', dataDir));
}

/** The control plane names no program to execute (A17): the node's own binary, or what the host's operator listed. */
export function requireAllowed([program = '']: readonly string[], { hookPrograms }: HookPlaces): void {
  if (program === '{binary}' || hookPrograms.includes(program)) return;
  throw new RuntimeError(
    'hook_not_allowed',
    `the vendor's step runs ${program}, which this host doesn't allow: list it in hook_programs of the agent's configuration, or let the step run {binary}`,
  );
}

/** For what runs no steps of the vendor: says so before anything is begun. */
export function noHooks(sentence: string): HookRunner {
  const refuse = (): never => {
    throw new RuntimeError('hooks_not_supported', sentence);
  };
  return { check: refuse, run: async () => refuse(), end: async () => undefined };
}
