import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { HoldNodeRequest, PinNodeRequest } from '@hoodcloud/contracts/http/node-holds';
import type { NodeView } from '@hoodcloud/contracts/http/nodes';
import type { Command } from 'commander';
import { resolveNodeId } from '../api/resolve-id.ts';
import type { Act, CommandIo } from '../command-io.ts';
import { duration } from '../rollouts/rollout-request.ts';
import { renderNode } from './node-text.ts';

interface HoldFlags {
  readonly reason: string;
  readonly for: number;
}

interface PinFlags {
  readonly reason: string;
  readonly for?: number;
  readonly binary?: string;
  readonly version?: string;
}

/** `hoodctl node hold|pin|release` */
export function addHoldCommands(node: Command, act: Act): void {
  node
    .command('hold')
    .argument('<node>', 'name or id')
    .description('keep a node from being changed for a while: rollouts wait for it')
    .requiredOption('--reason <text>', 'why; everybody who waits reads it')
    .requiredOption('--for <duration>', 'how long at the most, e.g. 48h', duration)
    .action(act<HoldFlags>(hold));
  node
    .command('pin')
    .argument('<node>', 'name or id')
    .description('keep a component at its version: rollouts to another one leave the node out')
    .requiredOption('--reason <text>', 'why; everybody who wonders reads it')
    .option('--for <duration>', 'how long at the most; until it is released when left out', duration)
    .option('--binary <name>', 'the component, where the node has more than one')
    .option('--version <version>', 'the version to stay at; what it runs when left out')
    .action(act<PinFlags>(pin));
  node
    .command('release')
    .argument('<node>', 'name or id')
    .description('end every hold and pin of a node')
    .option('--reason <text>', 'why; kept in the history')
    .action(act<{ reason?: string }>(release));
}

async function hold(io: CommandIo, [given = '']: readonly string[], flags: HoldFlags): Promise<void> {
  const body: HoldNodeRequest = { reason: flags.reason, expires_in_seconds: Math.round(flags.for / 1000) };
  await order(io, given, 'hold', body);
}

async function pin(io: CommandIo, [given = '']: readonly string[], flags: PinFlags): Promise<void> {
  const body: PinNodeRequest = {
    reason: flags.reason,
    ...(flags.binary !== undefined && { binary_name: flags.binary }),
    ...(flags.version !== undefined && { version: flags.version }),
    ...(flags.for !== undefined && { expires_in_seconds: Math.round(flags.for / 1000) }),
  };
  await order(io, given, 'pin', body);
}

async function release(io: CommandIo, [given = '']: readonly string[], flags: { reason?: string }): Promise<void> {
  await order(io, given, 'release', flags.reason === undefined ? {} : { reason: flags.reason });
}

async function order(
  io: CommandIo,
  given: string,
  control: 'hold' | 'pin' | 'release',
  body: HoldNodeRequest | PinNodeRequest | { reason?: string },
): Promise<void> {
  const api = await io.api();
  const node = await api.post<NodeView>(PATHS.nodeControl(await resolveNodeId(api, given), control), body);
  io.answer(node, (answer) => renderNode(answer, io.context.now()));
}
