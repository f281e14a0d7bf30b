import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { CreateNodeInput, JoinTokenView, NodeDetail, NodeView } from '@hoodcloud/contracts/http/nodes';
import { type Command, InvalidArgumentError } from 'commander';
import { allPages } from '../api/all-pages.ts';
import { resolveNodeId } from '../api/resolve-id.ts';
import type { Act, CommandIo } from '../command-io.ts';
import { duration } from '../rollouts/rollout-request.ts';
import { addHoldCommands } from './hold-commands.ts';
import { nodeHistory, nodeSummary } from './node-history.ts';
import { renderJoinToken, renderNode, renderNodes, renderWhy } from './node-text.ts';

const AFTER = `
Bring a host into the fleet:
  $ hoodctl node add validator-1 --chain celestia-mocha --type full
  $ hoodctl node join-token validator-1              shown once; on the host: hoodcloud-agent join --token TOKEN …
  $ hoodctl node list                                online, with the version that was recognised by its checksum
  $ hoodctl node name-version validator-1 celestia-node v0.20.4    when no manifest or profile knows that checksum`;

interface ListFlags {
  readonly chain?: string;
  readonly type?: string;
  readonly state?: string;
  readonly runs?: string;
  readonly name?: string;
  readonly zone?: string;
  readonly offline?: boolean;
}

interface AddFlags {
  readonly chain: string;
  readonly type: string;
  readonly label?: Record<string, string>;
  readonly var?: Record<string, string>;
}

/** `hoodctl node …` */
export function addNodeCommands(program: Command, act: Act): void {
  const node = program
    .command('node')
    .description('the fleet: hosts, what they run, how they join')
    .addHelpText('after', AFTER);
  node
    .command('list')
    .description('list nodes')
    .option('--chain <id>', 'only this chain')
    .option('--type <type>', 'only this node type')
    .option('--state <state>', 'only nodes in this state, e.g. down')
    .option('--runs <version>', 'only nodes that run this version')
    .option('--name <part>', 'only nodes with this in their name')
    .option('--zone <zone>', 'only nodes with this label zone')
    .option('--offline', 'only nodes that nothing is heard of')
    .action(act<ListFlags>(list));
  node.command('show').argument('<node>', 'name or id').description('show one node in full').action(act(show));
  node
    .command('why')
    .argument('<node>', 'name or id')
    .description('say why a node waits, and what to do about it')
    .action(act(why));
  node
    .command('history')
    .argument('<node>', 'name or id')
    .description('list what rollouts did to a node, the newest first')
    .action(act(nodeHistory));
  node
    .command('summary')
    .description('count nodes by chain, state, zone and version')
    .option('--chain <id>', 'only this chain')
    .action(act<{ chain?: string }>(nodeSummary));
  node
    .command('add')
    .argument('<name>', 'letters, digits, ".", "_" and "-"')
    .description('register a node')
    .requiredOption('--chain <id>', 'chain_profile_id')
    .requiredOption('--type <type>', 'node_type')
    .option('--label <name=value>', 'a label; may be repeated', pairs)
    .option('--var <name=value>', 'a value for config templates that is its own; may be repeated', pairs)
    .action(act<AddFlags>(add));
  node
    .command('join-token')
    .argument('<node>', 'name or id')
    .description('make a one-time token with which the agent of the node joins')
    .option('--expires <duration>', 'how long it may be used', duration)
    .action(act<{ expires?: number }>(joinToken));
  node
    .command('name-version')
    .argument('<node>', 'name or id')
    .argument('<binary>', 'the component, e.g. celestia-node')
    .argument('<version>', 'what is running there')
    .description('say which version a node runs when its checksum is known nowhere')
    .action(act(nameVersion));
  addHoldCommands(node, act);
}

async function list(io: CommandIo, _: readonly string[], flags: ListFlags): Promise<void> {
  const items = await allPages<NodeView>(await io.api(), PATHS.nodes, {
    chain_profile_id: flags.chain,
    node_type: flags.type,
    state: flags.state,
    version: flags.runs,
    name: flags.name,
    zone: flags.zone,
    online: flags.offline ? false : undefined,
  });
  io.answer(items, (nodes) => renderNodes(nodes, io.context.now()));
  if (items.length > 0) return;
  const filtered = Object.keys(flags).length > 0;
  io.remark(filtered ? 'No node fits.' : 'There is none. Next: hoodctl node add --help');
}

async function show(io: CommandIo, [given = '']: readonly string[]): Promise<void> {
  const api = await io.api();
  const node = await api.get<NodeDetail>(PATHS.node(await resolveNodeId(api, given)));
  io.answer(node, (answer) => renderNode(answer, io.context.now()));
}

async function why(io: CommandIo, [given = '']: readonly string[]): Promise<void> {
  const api = await io.api();
  const node = await api.get<NodeDetail>(PATHS.node(await resolveNodeId(api, given)));
  io.answer({ node_id: node.id, node_name: node.name, why: node.why }, renderWhy);
}

async function add(io: CommandIo, [name = '']: readonly string[], flags: AddFlags): Promise<void> {
  const request: CreateNodeInput = {
    name,
    chain_profile_id: flags.chain,
    node_type: flags.type,
    ...(flags.label && { labels: flags.label }),
    ...(flags.var && { variables: flags.var }),
  };
  const node = await (await io.api()).post<NodeView>(PATHS.nodes, request);
  io.answer(node, (answer) => renderNode(answer, io.context.now()));
  io.remark(`Next: hoodctl node join-token ${name}`);
}

async function joinToken(
  io: CommandIo,
  [given = '']: readonly string[],
  { expires }: { expires?: number },
): Promise<void> {
  const api = await io.api();
  const body = expires === undefined ? {} : { expires_in_seconds: Math.round(expires / 1000) };
  const token = await api.post<JoinTokenView>(PATHS.nodeJoinToken(await resolveNodeId(api, given)), body);
  io.answer(token, renderJoinToken);
}

async function nameVersion(io: CommandIo, [given = '', binary = '', version = '']: readonly string[]): Promise<void> {
  const api = await io.api();
  const node = await api.post<NodeView>(PATHS.nodeVersion(await resolveNodeId(api, given), binary), { version });
  io.answer(node, (answer) => renderNode(answer, io.context.now()));
}

function pairs(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be name=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
