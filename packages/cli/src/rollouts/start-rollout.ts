import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import type { CommandIo } from '../command-io.ts';
import type { ExitCode } from '../exit-code.ts';
import { watchRollout } from '../watch/watch-rollout.ts';
import { renderRollout } from './rollout-text.ts';

export interface StartFlags {
  readonly watch?: boolean;
  readonly reason?: string;
  readonly dryRun?: boolean;
}

/** Starts a rollout that was created, and stays with `--watch`. */
export async function startAndShow(io: CommandIo, id: string, flags: StartFlags): Promise<ExitCode | undefined> {
  return startAt(io, PATHS.rolloutControl(id, 'start'), flags);
}

/** Orders a start at an endpoint that answers with the rollout. */
export async function startAt(
  io: CommandIo,
  path: string,
  { watch, reason, dryRun }: StartFlags,
): Promise<ExitCode | undefined> {
  const api = await io.api();
  const started = await api.post<RolloutDetail>(path, reason ? { reason } : {}, { dry_run: dryRun });
  if (dryRun) {
    io.remark('start is allowed now; nothing was done.');
    return undefined;
  }
  if (watch) return watchRollout(io, started.id);
  io.answer(started, (rollout) => renderRollout(rollout, io.context.now()));
  io.remark(`It runs on the server. Next: hoodctl rollout status ${started.id} --watch`);
  return undefined;
}
