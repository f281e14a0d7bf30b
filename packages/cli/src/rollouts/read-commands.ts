import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type {
  RolloutBatchesView,
  RolloutDetail,
  RolloutNodeLogs,
  RolloutNodeView,
  RolloutView,
} from '@hoodcloud/contracts/http/rollout-views';
import { ROLLOUT_STATUSES } from '@hoodcloud/domain/rollout-status';
import { type Command, Option } from 'commander';
import { allPages } from '../api/all-pages.ts';
import { resolveRolloutId, resolveRolloutNodeId } from '../api/resolve-id.ts';
import type { Act, CommandIo } from '../command-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { type EventsFlags, printEvents } from '../watch/print-events.ts';
import { outcomeOf } from '../watch/rollout-outcome.ts';
import { watchRollout } from '../watch/watch-rollout.ts';
import { duration } from './rollout-request.ts';
import { renderRollout, renderRolloutBatches, renderRolloutNodes, renderRollouts } from './rollout-text.ts';

const STATUS_AFTER = `
--watch stays until the rollout ends or waits for a person. Ctrl-C ends the watching, never the rollout.
Exits 0 completed, 1 failed or canceled, 3 paused or waiting for a person, 5 when --timeout passes first.

  $ hoodctl rollout status latest --watch
  $ hoodctl rollout status latest --watch --timeout 30m && ./announce.sh`;

/** `status`, `nodes`, `batches`, `logs`, `events`, `list`. */
export function addReadCommands(rollout: Command, act: Act): void {
  rollout
    .command('status')
    .argument('<id>', 'the rollout, or "latest"')
    .description('show a rollout and why it waits')
    .option('--watch', 'stay and show what happens')
    .option('--timeout <duration>', 'with --watch: give up after this time, e.g. 30m', duration)
    .addHelpText('after', STATUS_AFTER)
    .action(act<{ watch?: boolean; timeout?: number }>(status));
  rollout
    .command('nodes')
    .argument('<id>', 'the rollout, or "latest"')
    .description('show the nodes of a rollout: status, phase, what happens, why it failed')
    .action(act(nodes));
  rollout
    .command('batches')
    .argument('<id>', 'the rollout, or "latest"')
    .description('show how far each batch of a rollout is; batches that look alike in one line')
    .action(act(batches));
  rollout
    .command('logs')
    .argument('<id>', 'the rollout, or "latest"')
    .argument('<node>', 'the node, by name or id')
    .description('show the last log lines of the version that failed on a node')
    .action(act(logs));
  rollout
    .command('events')
    .argument('<id>', 'the rollout, or "latest"')
    .description('show the history of a rollout')
    .option('--follow', 'stay and show new events')
    .action(act<EventsFlags>(events));
  rollout
    .command('list')
    .description('list rollouts, newest first')
    .option('--chain <id>', 'only this chain')
    .addOption(new Option('--status <status>', 'only this status').choices(ROLLOUT_STATUSES))
    .action(act<{ chain?: string; status?: string }>(list));
}

async function status(
  io: CommandIo,
  [given = '']: readonly string[],
  flags: { watch?: boolean; timeout?: number },
): Promise<ExitCode> {
  const api = await io.api();
  const id = await resolveRolloutId(api, given);
  if (flags.watch) return watchRollout(io, id, flags.timeout);
  const rollout = await api.get<RolloutDetail>(PATHS.rollout(id));
  io.answer(rollout, (answer) => renderRollout(answer, io.context.now()));
  return outcomeOf(rollout)?.exitCode ?? EXIT.done;
}

async function nodes(io: CommandIo, [given = '']: readonly string[]): Promise<void> {
  const api = await io.api();
  const id = await resolveRolloutId(api, given);
  const rollout = await api.get<RolloutDetail>(PATHS.rollout(id));
  const items = await allPages<RolloutNodeView>(api, PATHS.rolloutNodes(id));
  io.answer(items, (answer) => renderRolloutNodes(rollout, answer));
}

async function batches(io: CommandIo, [given = '']: readonly string[]): Promise<void> {
  const api = await io.api();
  const id = await resolveRolloutId(api, given);
  const rollout = await api.get<RolloutDetail>(PATHS.rollout(id));
  const answer = await api.get<RolloutBatchesView>(PATHS.rolloutBatches(id));
  io.answer(answer, (of) => renderRolloutBatches(rollout, of));
  if (answer.items.length === 0) io.remark('The nodes are chosen when the rollout starts.');
}

async function logs(io: CommandIo, [given = '', node = '']: readonly string[]): Promise<void> {
  const api = await io.api();
  const id = await resolveRolloutId(api, given);
  const nodeId = await resolveRolloutNodeId(api, id, node);
  const answer = await api.get<RolloutNodeLogs>(PATHS.rolloutNodeLogs(id, nodeId));
  io.answer(answer, ({ lines }) => lines.map((line) => `${line}\n`).join(''));
  if (answer.lines.length === 0)
    io.remark(`No version failed on ${answer.node_name} in this rollout, so no log was kept.`);
}

async function events(io: CommandIo, [given = '']: readonly string[], flags: EventsFlags): Promise<void> {
  await printEvents(io, PATHS.rolloutEvents(await resolveRolloutId(await io.api(), given)), flags);
}

async function list(io: CommandIo, _: readonly string[], flags: { chain?: string; status?: string }): Promise<void> {
  const api = await io.api();
  const query = { chain_profile_id: flags.chain, status: flags.status };
  const items = await allPages<RolloutView>(api, PATHS.rollouts, query);
  io.answer(items, (answer) => renderRollouts(answer, io.context.now()));
  if (items.length === 0) io.remark('There is none. Next: hoodctl rollout plan --help');
}
