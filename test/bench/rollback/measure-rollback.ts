import { fileURLToPath } from 'node:url';
import { AGENT_ON_HOST, agentBundle } from '@hoodcloud/testkit/host-lab/agent-on-host';
import { bundleForHost } from '@hoodcloud/testkit/host-lab/bundle-for-host';
import { AgentOnNode } from '../live-node/agent-on-node.ts';
import type { LiveNode } from '../live-node/live-node.ts';
import type { Clocked } from './rollback-clock.ts';

const CLOCK = '/opt/hoodcloud/clock.mjs';
const ROLL_BACK = `node ${AGENT_ON_HOST.program} rollback --yes`;

/** One rollback, and one start of the same node without us. */
export interface MeasuredRollback {
  readonly rollback: Clocked;
  readonly ownStart: Clocked;
}

/**
 * Upgrades a live node, cuts its host's network, and has an operator roll back from the local backup; no agent runs and
 * nothing can be fetched. Once a round.
 */
export async function measureRollback(node: LiveNode, rounds: number, say: (line: string) => void) {
  const { host, own } = node;
  const agent = await AgentOnNode.install(node);
  await host.writeFile(AGENT_ON_HOST.program, await agentBundle());
  await bundleForHost(host, fileURLToPath(new URL('./rollback-clock.ts', import.meta.url)), CLOCK);
  const clocked = async (command: string) =>
    JSON.parse(await host.must('node', CLOCK, host.ip, String(node.rpcPort), command)) as Clocked;
  const seen: MeasuredRollback[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    await agent.upgrade('v0.38.21');
    await host.cut();
    const rollback = await clocked(ROLL_BACK);
    await host.sh(own.stop);
    const ownStart = await clocked(own.start);
    await host.heal();
    seen.push({ rollback, ownStart });
    const [back, alone] = [rollback, ownStart].map(({ openAfterMs }) => `${openAfterMs.toFixed(0)} ms`);
    say(`round ${round} of ${rounds}: answers ${back} after the order; its own start takes ${alone}`);
  }
  return seen;
}
