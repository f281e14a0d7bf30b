import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type {
  RolloutGroupDetail,
  RolloutGroupPlanView,
  RolloutGroupStatusView,
  RolloutGroupView,
} from '@hoodcloud/contracts/http/rollout-groups';
import { ROLLOUT_GROUP_STATUSES } from '@hoodcloud/domain/rollout-group-status';
import { type Command, Option } from 'commander';
import { allPages } from '../api/all-pages.ts';
import { resolveGroupId } from '../api/resolve-id.ts';
import type { Act, CommandIo } from '../command-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { duration } from '../rollouts/rollout-request.ts';
import { type EventsFlags, printEvents } from '../watch/print-events.ts';
import { addGroupControlCommands, startGroup } from './group-control-commands.ts';
import { type GroupFlags, groupRequest, withGroupOptions } from './group-request.ts';
import { groupPlanExitCode, renderGroup, renderGroupPlan, renderGroupStatus, renderGroups } from './group-text.ts';
import { groupExitCode, watchGroup } from './watch-group.ts';

const AFTER = `
A group upgrades several programs of the same hosts, one after the other: the next component begins when every node
of the one before is proved healthy. ID is a group's id, the beginning of it, or "latest".

  $ hoodctl group plan   -f group.yaml
  $ hoodctl group create -f group.yaml --start --watch
When a component fails:
  partial_ok     the group ends; what was upgraded stays
  rollback_all   the failed component's nodes go back first, then the components before it
  manual         the group pauses: "group resume" tries on, "group skip" goes on without it, "group rollback"`;

const CREATE_AFTER = `
  $ hoodctl group create --chain holesky --type full --policy rollback_all --strategy canary \\
      --component geth=v1.14.0@v1.14.0-fork lighthouse=v5.2.0@v5.2.0-fork

group.yaml:
  chain_profile_id: holesky
  node_type: full
  failure_policy: manual
  strategy: rolling
  batch_size: 2
  desired_versions: { geth: v1.14.0, lighthouse: v5.2.0 }
  component_order:
    - { binary_name: geth, upgrade_id: v1.14.0-fork }
    - { binary_name: lighthouse, upgrade_id: v5.2.0-fork, batch_size: 1 }`;

interface CreateFlags extends GroupFlags {
  readonly start?: boolean;
  readonly watch?: boolean;
}

/** `hoodctl group …` */
export function addGroupCommands(program: Command, act: Act): void {
  const group = program
    .command('group')
    .description('upgrade several programs of the same hosts, one after the other')
    .addHelpText('after', AFTER);
  withGroupOptions(group.command('plan'))
    .description('show what a group would do, without creating it')
    .addHelpText(
      'after',
      '\nExits 4 when nodes would be changed, 0 when there is nothing to do, 1 when a rule is broken.',
    )
    .action(act<GroupFlags>(plan));
  withGroupOptions(group.command('create'))
    .description('create a group')
    .option('--start', 'start it at once')
    .option('--watch', 'with --start: stay and show what happens')
    .addHelpText('after', CREATE_AFTER)
    .action(act<CreateFlags>(create));
  group
    .command('list')
    .description('list groups, newest first')
    .option('--chain <id>', 'only this chain')
    .addOption(new Option('--status <status>', 'only this status').choices(ROLLOUT_GROUP_STATUSES))
    .action(act<{ chain?: string; status?: string }>(list));
  group
    .command('show')
    .argument('<id>', 'the group, or "latest"')
    .description('show a group and what can be ordered now')
    .action(act(show));
  group
    .command('status')
    .argument('<id>', 'the group, or "latest"')
    .description('show the progress of each component')
    .option('--watch', 'stay and show what happens')
    .option('--timeout <duration>', 'with --watch: give up after this time, e.g. 30m', duration)
    .addHelpText(
      'after',
      '\nExits 0 completed or rolled back, 1 partial, failed or canceled, 3 when a person is needed.',
    )
    .action(act<{ watch?: boolean; timeout?: number }>(status));
  group
    .command('events')
    .argument('<id>', 'the group, or "latest"')
    .description('show what happened in the group and in its components, oldest first')
    .option('--follow', 'stay and show new events')
    .action(act<EventsFlags>(events));
  addGroupControlCommands(group, act);
}

async function plan(io: CommandIo, _: readonly string[], flags: GroupFlags): Promise<ExitCode> {
  const request = await groupRequest(flags);
  const answer = await (await io.api()).post<RolloutGroupPlanView>(PATHS.groups, request, { dry_run: true });
  io.answer(answer, renderGroupPlan);
  return groupPlanExitCode(answer);
}

async function create(io: CommandIo, _: readonly string[], flags: CreateFlags): Promise<ExitCode | undefined> {
  const request = await groupRequest(flags);
  const created = await (await io.api()).post<RolloutGroupDetail>(PATHS.groups, request);
  if (flags.start) return startGroup(io, created.id, flags.watch === true);
  io.answer(created, (group) => renderGroup(group, io.context.now()));
  io.remark(`Nothing has begun. Next: hoodctl group start ${created.id} --watch`);
  return undefined;
}

async function list(io: CommandIo, _: readonly string[], flags: { chain?: string; status?: string }): Promise<void> {
  const query = { chain_profile_id: flags.chain, status: flags.status };
  const items = await allPages<RolloutGroupView>(await io.api(), PATHS.groups, query);
  io.answer(items, (answer) => renderGroups(answer, io.context.now()));
  if (items.length === 0) io.remark('There is none. Next: hoodctl group plan --help');
}

async function show(io: CommandIo, [given = '']: readonly string[]): Promise<void> {
  const api = await io.api();
  const group = await api.get<RolloutGroupDetail>(PATHS.group(await resolveGroupId(api, given)));
  io.answer(group, (answer) => renderGroup(answer, io.context.now()));
}

async function events(io: CommandIo, [given = '']: readonly string[], flags: EventsFlags): Promise<void> {
  await printEvents(io, PATHS.groupEvents(await resolveGroupId(await io.api(), given)), flags);
}

async function status(
  io: CommandIo,
  [given = '']: readonly string[],
  flags: { watch?: boolean; timeout?: number },
): Promise<ExitCode> {
  const api = await io.api();
  const id = await resolveGroupId(api, given);
  if (flags.watch) return watchGroup(io, id, flags.timeout);
  const group = await api.get<RolloutGroupStatusView>(PATHS.groupStatus(id));
  io.answer(group, renderGroupStatus);
  return groupExitCode(group) ?? EXIT.done;
}
