import type { CommandEnd } from '../host/run-command.ts';

/** A step of the vendor as a runtime gets it: `{binary}` and `{data_dir}` are still for it to fill in. */
export interface HookCall {
  /** Unique in the attempt. */
  readonly name: string;
  readonly command: readonly string[];
  readonly timeoutMs: number;
}

/** Runs steps of the vendor as the node itself would run: its user, its environment, its sandbox. */
export interface HookRunner {
  /**
   * Why a command can't be run on this host, asked before anything is begun.
   * @throws RuntimeError `hook_not_allowed` | `hooks_not_supported`
   */
  check(command: readonly string[]): void;
  /** Runs it to its end, which is a value; ended, with all that it started, when its time is up or the signal aborts. */
  run(call: HookCall, signal: AbortSignal): Promise<CommandEnd>;
  /** Ends what an agent that died may have left running of it. Idempotent. */
  end(name: string): Promise<void>;
}
