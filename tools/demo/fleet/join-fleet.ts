import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { JoinTokenView, NodeView } from '@hoodcloud/contracts/http/nodes';
import { type DemoChain, NODE_TYPE, VALIDATORS } from '../chain/demo-chain.ts';
import type { Operator } from '../stage/operator.ts';
import type { Stage } from '../stage/stage.ts';
import { until } from '../stage/until.ts';
import { type DemoHost, hostOf, prepareHost } from './demo-agent.ts';
import { endNodes } from './end-nodes.ts';

const BUNDLE = fileURLToPath(new URL('../../build/bundle-program.mjs', import.meta.url));
const run = promisify(execFile);
const KNOWN_MS = 120_000;

/** Four hosts with an agent each, joined by one-time tokens; each agent starts its node. */
export async function joinFleet(stage: Stage, chain: DemoChain, operator: Operator): Promise<void> {
  const hosts = chain.validators.map((validator) => hostOf(stage.folder, chain, validator));
  stage.cast.add('nodes', () => endNodes(chain.validators, stage.folder.path));
  const program = stage.folder.at('hoodcloud-agent.mjs');
  await run(process.execPath, [BUNDLE, 'agent', program]); // one file, as it is shipped
  await Promise.all(hosts.map((host) => bringIn(stage, { host, program }, chain, operator)));
}

/** Waits until every node is online, healthy by its own metrics, and named by the checksum of its process. */
export async function fleetIsKnown({ narrator, interrupted }: Stage, operator: Operator): Promise<void> {
  await until('four healthy nodes of a known version', KNOWN_MS, interrupted, async () => {
    const nodes = await operator.asks<NodeView[]>(['node', 'list']);
    const known = ({ online, state, components }: NodeView) =>
      online && state === 'healthy' && components.some((part) => part.binary_version !== null);
    return nodes.length >= VALIDATORS && nodes.every(known) ? nodes : null;
  });
  narrator.say('Four agents are online; what each node runs was recognised by the checksum of its process.');
  await operator.types(['node', 'list']);
}

/** One host: registered, joined by a one-time token, its agent started, which starts the node. */
async function bringIn(
  stage: Stage,
  { host, program }: { host: DemoHost; program: string },
  chain: DemoChain,
  operator: Operator,
): Promise<void> {
  const { cast, ports } = stage;
  const joined = existsSync(join(host.stateDir, 'credential.json'));
  await prepareHost(host, chain, `127.0.0.1:${ports.gateway}`, !joined);
  const command = (...words: string[]) => [program, ...words, '--config', host.configFile];
  if (!joined) {
    const { chainProfileId } = chain;
    await operator.asks<NodeView>(['node', 'add', host.name, '--chain', chainProfileId, '--type', NODE_TYPE]);
    const { join_token: token } = await operator.asks<JoinTokenView>(['node', 'join-token', host.name]);
    await run(process.execPath, command('join', '--token', token));
  }
  cast.start(`agent-${host.name}`, process.execPath, command('run'));
}
