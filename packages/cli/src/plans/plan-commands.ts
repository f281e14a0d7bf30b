import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import { SAVED_PLAN_STATES, type SavedPlanDetail, type SavedPlanView } from '@hoodcloud/contracts/http/rollout-plans';
import { type Command, Option } from 'commander';
import { allPages } from '../api/all-pages.ts';
import { resolvePlanId } from '../api/resolve-id.ts';
import type { Act, CommandIo } from '../command-io.ts';
import type { ExitCode } from '../exit-code.ts';
import { type StartFlags, startAt } from '../rollouts/start-rollout.ts';
import { renderSavedPlan, renderSavedPlans } from './saved-plan-text.ts';

const AFTER = `
ID is a plan's id, the beginning of it, or "latest".

  $ hoodctl rollout plan --chain CHAIN --type TYPE --upgrade UPGRADE --strategy canary --save
  $ hoodctl plan show latest                           what it says, and what has changed since
  $ hoodctl plan start latest --watch`;

const START_AFTER = `
Creates the rollout and starts it, when manifest, profile, templates, nodes, versions and configs are as they were; else it
is refused and every difference is named. Needs the scope admin, since it creates a rollout.`;

/** `hoodctl plan …`: plans that somebody saved. */
export function addPlanCommands(program: Command, act: Act): void {
  const plan = program
    .command('plan')
    .description('plans that were saved, and their start')
    .addHelpText('after', AFTER);
  plan
    .command('list')
    .description('list saved plans, newest first')
    .option('--chain <id>', 'only this chain')
    .addOption(new Option('--state <state>', 'only this state').choices(SAVED_PLAN_STATES))
    .action(act<{ chain?: string; state?: string }>(list));
  plan
    .command('show')
    .argument('<id>', 'the plan, or "latest"')
    .description('show a saved plan, and what has changed since')
    .action(act(show));
  plan
    .command('start')
    .argument('<id>', 'the plan, or "latest"')
    .description('start the rollout that was planned, if nothing has changed since')
    .option('--watch', 'stay and show what happens')
    .option('--reason <text>', 'why; kept in the history')
    .option('--dry-run', 'only check whether it is allowed now')
    .addHelpText('after', START_AFTER)
    .action(act<StartFlags>(start));
}

async function list(io: CommandIo, _: readonly string[], { chain, state }: { chain?: string; state?: string }) {
  const plans = await allPages<SavedPlanView>(await io.api(), PATHS.savedPlans, { chain_profile_id: chain, state });
  io.answer(plans, renderSavedPlans);
  if (plans.length === 0) io.remark('There is none. Next: hoodctl rollout plan --help');
}

async function show(io: CommandIo, [given = '']: readonly string[]): Promise<void> {
  const api = await io.api();
  io.answer(await api.get<SavedPlanDetail>(PATHS.savedPlan(await resolvePlanId(api, given))), renderSavedPlan);
}

async function start(io: CommandIo, [given = '']: readonly string[], flags: StartFlags): Promise<ExitCode | undefined> {
  return startAt(io, PATHS.savedPlanStart(await resolvePlanId(await io.api(), given)), flags);
}
