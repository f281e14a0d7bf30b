import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HOOK_END_MS } from '@hoodcloud/domain/activity-budget';
import { hookStepName, type VendorHook } from '@hoodcloud/domain/vendor-hook';
import { AgentError } from '../../agent-error.ts';
import { replaceFile } from '../../host/atomic-file.ts';
import { type CommandEnd, lastWords } from '../../host/run-command.ts';
import type { ActionParams, UpgradeAction } from '../action.ts';
import { BACKUP_FILE_MODE } from '../backup-manifest.ts';
import { ensureStopped } from './ensure-stopped.ts';

/**
 * A step of the vendor as one more action. Before the stop it runs beside the node; after the install with the node
 * stopped and held, on the new binary and configs, and its undo still finds those.
 */
export function vendorHookAction(hook: VendorHook): UpgradeAction {
  return {
    name: hookStepName(hook),
    timeoutMs: () => hook.timeoutMs + HOOK_END_MS,
    isAlreadyDone: async () => false, // nobody but its vendor knows how its result looks
    execute: async (params) => {
      const { runtime, inDoubt } = params;
      if (inDoubt) await runtime.hooks.end(hook.name); // it may have outlived the agent that began it
      // neither waited for nor repeated: what a vendor's step left half done only the vendor knows (field-case 20)
      if (inDoubt && !hook.repeatable) throw interrupted(hook);
      if (hook.at === 'after_install') await ensureStopped(params);
      await runVendorCommand(hook, hook.command, params, 'step');
    },
    compensate: async (params) => {
      await params.runtime.hooks.end(hook.name);
      if (hook.undo === null) return; // acknowledged when the rollout was created
      if (hook.at === 'after_install') await ensureStopped(params);
      await runVendorCommand(hook, hook.undo, params, 'undo');
    },
  };
}

/** Name of the file in the attempt's backup that keeps what a step said. */
export function hookLogName(stepName: string, kind: 'step' | 'undo'): string {
  return `${stepName.replace(':', '-')}${kind === 'undo' ? '-undo' : ''}.log`;
}

/** What running a command of the vendor needs of an attempt. */
export type VendorRun = Pick<ActionParams, 'runtime' | 'backupDir' | 'signal' | 'onProgress'>;

/**
 * Runs a step's command, or its undo, to its end and keeps what it said beside the backup.
 * @throws AgentError `hook_failed` with the program's own last words
 */
export async function runVendorCommand(
  hook: VendorHook,
  command: readonly string[],
  { runtime, backupDir, signal, onProgress }: VendorRun,
  kind: 'step' | 'undo',
): Promise<void> {
  const { name, timeoutMs } = hook;
  onProgress(0, command.join(' '));
  const end = await runtime.hooks.run({ name, command, timeoutMs }, signal);
  const file = join(backupDir, hookLogName(hookStepName(hook), kind));
  await keepWords(file, command, end);
  if (end.code === 0 && !end.timedOut) return;
  const what = kind === 'undo' ? `the undo of the vendor's step ${name}` : `the vendor's step ${name}`;
  throw new AgentError('hook_failed', `${what} (${command.join(' ')}) ${howItEnded(end, timeoutMs)}; see ${file}`);
}

/** Keeps what a step said beside the attempt's backup. */
export async function keepWords(file: string, command: readonly string[], { output }: CommandEnd): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  await replaceFile(file, `${command.join(' ')}\n${output}\n`, { mode: BACKUP_FILE_MODE, ...owner });
}

/** In words, with the last ones of the program. */
export function howItEnded({ code, killedBy, timedOut, output }: CommandEnd, timeoutMs: number): string {
  if (timedOut) return `was ended when its ${timeoutMs / 1000} s were over${lastWords(output)}`;
  if (killedBy !== null) return `was ended by ${killedBy}${lastWords(output)}`;
  return `ended with exit status ${code}${lastWords(output)}`;
}

function interrupted({ name }: VendorHook): AgentError {
  return new AgentError(
    'hook_interrupted',
    `the agent ended while the vendor's step ${name} ran, and it isn't said to be repeatable: look at what it left, then upgrade again`,
  );
}
