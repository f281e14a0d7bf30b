import { setTimeout as sleep } from 'node:timers/promises';
import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { asksForApproval } from '@hoodcloud/domain/approval-reasons';
import type { ReasonCode } from '@hoodcloud/domain/reasons';
import { isEndedRollout } from '@hoodcloud/domain/rollout-status';
import type { Command } from 'commander';
import type { ApiClient } from '../api/api-client.ts';
import { resolveRolloutId, resolveRolloutNodeId } from '../api/resolve-id.ts';
import type { Act, CommandIo } from '../command-io.ts';
import type { ExitCode } from '../exit-code.ts';
import { watchRollout } from '../watch/watch-rollout.ts';
import { renderRollout } from './rollout-text.ts';

const LOOK_MS = 200;
const MOST_LOOKS = 25;

interface ControlFlags {
  readonly reason?: string;
  readonly dryRun?: boolean;
  readonly watch?: boolean;
}

interface ControlCommand {
  readonly name: string;
  /** Last part of the endpoint's path. */
  readonly endpoint: string;
  readonly what: string;
  readonly forNode: boolean;
  /** Whether the rollout shows that it has taken the order up; left out where the order itself is all there is to see. */
  readonly taken?: (rollout: RolloutDetail) => boolean;
}

/** Whether the rollout says this about itself now. */
const says = ({ waiting }: RolloutDetail, code: ReasonCode): boolean =>
  waiting?.reasons.some((reason) => reason.code === code) ?? false;

/** What a person can order, in the order of the help. */
const CONTROLS: readonly ControlCommand[] = [
  {
    name: 'pause',
    endpoint: 'pause',
    what: 'start no further node; those in flight finish',
    forNode: false,
    taken: (rollout) => rollout.status !== 'running' || says(rollout, 'pausing'),
  },
  {
    name: 'resume',
    endpoint: 'resume',
    what: 'go on; failures so far count as known',
    forNode: false,
    taken: ({ status }) => status !== 'paused',
  },
  {
    name: 'approve',
    endpoint: 'approve',
    what: 'let a breaking migration go beyond its canaries, or begin as the second person',
    forNode: false,
    taken: ({ waiting }) => !(waiting?.reasons ?? []).some(({ code }) => asksForApproval(code)),
  },
  {
    name: 'cancel',
    endpoint: 'cancel',
    what: 'end it for good; those in flight finish',
    forNode: false,
    taken: (rollout) => isEndedRollout(rollout.status) || says(rollout, 'canceling'),
  },
  { name: 'force', endpoint: 'force', what: 'ignore the failure threshold', forNode: false },
  {
    name: 'rollback',
    endpoint: 'rollback',
    what: 'give every upgraded node its previous version back',
    forNode: false,
    taken: (rollout) => rollout.direction === 'rollback' || says(rollout, 'rollback_draining'),
  },
  { name: 'retry', endpoint: 'retry', what: 'try a node again that failed or was undone', forNode: true },
  { name: 'skip', endpoint: 'skip', what: 'leave out a node that has not begun', forNode: true },
];

/** The controls: one command each, all alike. */
export function addControlCommands(rollout: Command, act: Act): void {
  for (const control of CONTROLS) {
    const command = rollout
      .command(control.name)
      .argument('<id>', 'the rollout, or "latest"')
      .description(control.what);
    if (control.forNode) command.argument('<node>', 'the node, by name or id');
    command
      .option('--reason <text>', 'why; kept in the history')
      .option('--dry-run', 'only check whether it is allowed now')
      .option('--watch', 'stay and show what happens')
      .action(act<ControlFlags>((io, args, flags) => order(io, control, args, flags)));
  }
}

async function order(
  io: CommandIo,
  control: ControlCommand,
  [given = '', node = '']: readonly string[],
  { reason, dryRun, watch }: ControlFlags,
): Promise<ExitCode | undefined> {
  const api = await io.api();
  const id = await resolveRolloutId(api, given);
  const path = control.forNode
    ? PATHS.rolloutNodeControl(id, await resolveRolloutNodeId(api, id, node), control.endpoint)
    : PATHS.rolloutControl(id, control.endpoint);
  await api.post(path, reason ? { reason } : {}, { dry_run: dryRun });
  if (dryRun) {
    io.remark(`${control.name} is allowed now; nothing was done.`);
    return undefined;
  }
  const rollout = await untilTaken(io, api, id, control);
  if (watch) return watchRollout(io, id);
  io.answer(rollout, (answer) => renderRollout(answer, io.context.now()));
  if (!isEndedRollout(rollout.status)) io.remark(`Ordered. Next: hoodctl rollout status ${id} --watch`);
  return undefined;
}

/**
 * An order is a row that the rollout takes up a moment later (C7a): what is shown should be what came of it. Gives up
 * quietly after some seconds, since nodes in flight may have to finish first.
 */
async function untilTaken(
  io: CommandIo,
  api: ApiClient,
  id: string,
  { taken = () => true }: ControlCommand,
): Promise<RolloutDetail> {
  for (let look = 0; ; look += 1) {
    const rollout = await api.get<RolloutDetail>(PATHS.rollout(id));
    if (taken(rollout) || look === MOST_LOOKS) return rollout;
    await sleep(LOOK_MS, undefined, { signal: io.context.interrupted });
  }
}
