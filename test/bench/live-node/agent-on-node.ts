import { fileURLToPath } from 'node:url';
import type { UpgradeOrder } from '@hoodcloud/agent/upgrade/drive-upgrade';
import { AGENT_ON_HOST } from '@hoodcloud/testkit/host-lab/agent-on-host';
import { bundleForHost } from '@hoodcloud/testkit/host-lab/bundle-for-host';
import type { LiveNode, Release } from './live-node.ts';

const DRIVER = fileURLToPath(new URL('../../../packages/agent/src/upgrade/drive-upgrade.ts', import.meta.url));
const PROGRAM = '/opt/hoodcloud/upgrade.mjs';
/** The service must stay up for so long before the upgrade counts; the port is open by then, so it costs no downtime. */
export const STABLE_MS = 500;

/** The agent's handler, executor and adapter on a live node's host, told what a control plane would send. */
export class AgentOnNode {
  readonly #node: LiveNode;
  #attempts = 0;
  #latest: Release | undefined;

  private constructor(node: LiveNode) {
    this.#node = node;
  }

  static async install(node: LiveNode): Promise<AgentOnNode> {
    await bundleForHost(node.host, DRIVER, PROGRAM);
    await node.host.writeFile(AGENT_ON_HOST.config, JSON.stringify(node.agentConfig));
    await node.host.must('mkdir', '-p', AGENT_ON_HOST.stateDir);
    return new AgentOnNode(node);
  }

  /** @throws Error with the result when the upgrade was not completed */
  async upgrade(to: Release): Promise<void> {
    this.#attempts += 1;
    this.#latest = to;
    await this.#drive('UPGRADE', to);
  }

  /** The node has proved healthy: what only the undo of the latest upgrade needs may go. */
  async confirm(): Promise<void> {
    if (this.#latest === undefined) throw new Error('nothing was upgraded that could be confirmed');
    await this.#drive('CONFIRM', this.#latest);
  }

  async #drive(operation: 'UPGRADE' | 'CONFIRM', to: Release): Promise<void> {
    const attemptId = `attempt-${this.#attempts}`;
    const order: UpgradeOrder = {
      configFile: AGENT_ON_HOST.config,
      command: {
        commandId: `${attemptId}-${operation}`,
        type: 'COMMAND_TYPE_UPGRADE',
        expiresInMs: 120_000,
        upgrade: {
          attemptId,
          operation: `OPERATION_${operation}`,
          upgradeId: attemptId,
          binaryName: 'cometbft',
          targetVersion: to,
          artifact: this.#node.artifactOf(to),
          budgets: { stableMs: STABLE_MS },
        },
      },
    };
    const said = await this.#node.host.must('node', PROGRAM, JSON.stringify(order));
    if (JSON.parse(said).outcome !== 'OUTCOME_COMPLETED') throw new Error(said);
  }
}
