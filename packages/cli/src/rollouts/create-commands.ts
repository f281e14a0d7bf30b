import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import type { Command } from 'commander';
import { resolveRolloutId } from '../api/resolve-id.ts';
import type { Act, CommandIo } from '../command-io.ts';
import type { ExitCode } from '../exit-code.ts';
import { savePlan } from '../plans/save-plan.ts';
import { planExitCode, renderPlan } from './plan-text.ts';
import { duration, type RequestFlags, rolloutRequest, withRequestOptions } from './rollout-request.ts';
import { renderRollout } from './rollout-text.ts';
import { startAndShow } from './start-rollout.ts';

interface StartFlags {
  readonly watch?: boolean;
  readonly reason?: string;
  readonly dryRun?: boolean;
}

const PLAN_AFTER = `
Shows which nodes would be upgraded in which order, who is left out and why, and every rule the request breaks.
Changes nothing. Exits 4 when nodes would be changed, 0 when there is nothing to do, 1 when a rule is broken.
--save keeps it on the server: hoodctl plan start begins exactly that, and refuses when anything changed since.

  $ hoodctl rollout plan --chain celestia-mocha --type full --upgrade v1.5.0-hotfix --strategy canary`;

const CREATE_AFTER = `
  $ hoodctl rollout create --chain celestia-mocha --type full --upgrade v1.5.0-hotfix --strategy canary --batch-size 5
  $ hoodctl rollout create -f rollout.yaml --start --watch

rollout.yaml:
  chain_profile_id: celestia-mocha
  node_type: full
  upgrade_id: v1.5.0-hotfix
  strategy: rolling
  batch_size: 5
  failure_threshold: 0.1

What is created does nothing until it is started: hoodctl rollout start latest --watch`;

/** `plan`, `create`, `start`. */
export function addCreateCommands(rollout: Command, act: Act): void {
  withRequestOptions(rollout.command('plan'))
    .description('show what a rollout would do, without creating it')
    .option('--save', 'keep it, so that it can be started as it is shown')
    .option('--valid-for <duration>', 'with --save: how long it may be started, e.g. 2h; a day when left out', duration)
    .option('--reason <text>', 'with --save: what it is for')
    .addHelpText('after', PLAN_AFTER)
    .action(act<PlanFlags>(plan));
  withRequestOptions(rollout.command('create'))
    .description('create a rollout')
    .option('--start', 'start it at once')
    .option('--watch', 'with --start: stay and show what happens')
    .addHelpText('after', CREATE_AFTER)
    .action(act<RequestFlags & { start?: boolean; watch?: boolean }>(create));
  rollout
    .command('start')
    .argument('<id>', 'the rollout, or "latest"')
    .description('start a rollout that was created')
    .option('--watch', 'stay and show what happens')
    .option('--reason <text>', 'why; kept in the history')
    .option('--dry-run', 'only check whether it is allowed now')
    .action(act<StartFlags>(start));
}

interface PlanFlags extends RequestFlags {
  readonly save?: boolean;
  readonly validFor?: number;
  readonly reason?: string;
}

async function plan(io: CommandIo, _: readonly string[], flags: PlanFlags): Promise<ExitCode> {
  const api = await io.api();
  if (flags.save) return savePlan(io, { request: await rolloutRequest(api, flags), ...flags });
  const answer = await api.post<RolloutPlanView>(PATHS.rolloutPlan, await rolloutRequest(api, flags));
  io.answer(answer, renderPlan);
  return planExitCode(answer);
}

async function create(
  io: CommandIo,
  _: readonly string[],
  flags: RequestFlags & { start?: boolean; watch?: boolean },
): Promise<ExitCode | undefined> {
  const api = await io.api();
  const created = await api.post<RolloutDetail>(PATHS.rollouts, await rolloutRequest(api, flags));
  if (!flags.start) {
    io.answer(created, (rollout) => renderRollout(rollout, io.context.now()));
    io.remark(`Nothing has begun. Next: hoodctl rollout start ${created.id} --watch`);
    return undefined;
  }
  return startAndShow(io, created.id, flags);
}

async function start(io: CommandIo, [given = '']: readonly string[], flags: StartFlags): Promise<ExitCode | undefined> {
  return startAndShow(io, await resolveRolloutId(await io.api(), given), flags);
}
