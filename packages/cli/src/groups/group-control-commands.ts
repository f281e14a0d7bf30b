import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { RolloutGroupDetail } from '@hoodcloud/contracts/http/rollout-groups';
import type { Command } from 'commander';
import { resolveGroupId } from '../api/resolve-id.ts';
import type { Act, CommandIo } from '../command-io.ts';
import type { ExitCode } from '../exit-code.ts';
import { wholeNumber } from '../rollouts/rollout-request.ts';
import { renderGroup } from './group-text.ts';
import { watchGroup } from './watch-group.ts';

interface OrderFlags {
  readonly reason?: string;
  readonly dryRun?: boolean;
  readonly watch?: boolean;
  readonly component?: number;
}

/** What a person can order of a group, in the order of the help. */
const CONTROLS = {
  start: 'start a group that was created',
  pause: 'begin nothing more; nodes in flight finish',
  resume: 'go on; failures so far count as known',
  skip: 'go on without a component; its nodes in flight finish',
  cancel: 'end it for good; nodes in flight finish, later components never begin',
  rollback: 'give every upgraded node its previous versions back, the last component first',
} as const;

/** The controls: one command each, all alike. */
export function addGroupControlCommands(group: Command, act: Act): void {
  for (const [name, what] of Object.entries(CONTROLS)) {
    const command = group
      .command(name)
      .argument('<id>', 'the group, or "latest"')
      .description(what)
      .option('--reason <text>', 'why; kept in the history')
      .option('--dry-run', 'only check whether it is allowed now')
      .option('--watch', 'stay and show what happens');
    if (name === 'skip') {
      command.option('--component <n>', 'which one, from 0; the one the group stands at when left out', wholeNumber);
    }
    command.action(
      act<OrderFlags>(async (io, [given = ''], flags) =>
        orderOf(io, name, await resolveGroupId(await io.api(), given), flags),
      ),
    );
  }
}

/** Starts a group that was just created. */
export function startGroup(io: CommandIo, id: string, watch: boolean): Promise<ExitCode | undefined> {
  return orderOf(io, 'start', id, { watch });
}

async function orderOf(
  io: CommandIo,
  control: string,
  id: string,
  { reason, dryRun, watch, component }: OrderFlags,
): Promise<ExitCode | undefined> {
  const body = { ...(reason && { reason }), ...(component !== undefined && { component_index: component }) };
  const api = await io.api();
  const group = await api.post<RolloutGroupDetail>(PATHS.groupControl(id, control), body, { dry_run: dryRun });
  if (dryRun) {
    io.remark(`${control} is allowed now; nothing was done.`);
    return undefined;
  }
  if (watch) return watchGroup(io, id);
  io.answer(group, (answer) => renderGroup(answer, io.context.now()));
  io.remark(`Ordered. Next: hoodctl group status ${id} --watch`);
  return undefined;
}
