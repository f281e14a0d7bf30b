import { type CommandResult, CommandType, Operation } from '@hoodcloud/contracts/wire/agent-v1';
import { AGENT_ON_HOST, installAgent } from '@hoodcloud/testkit/host-lab/agent-on-host';
import type { CommandOutcome } from '@hoodcloud/testkit/host-lab/lab-command';
import { vi } from 'vitest';
import { TestGateway } from '../../testing/test-gateway.ts';
import { CONFIG, configOf, type HandNode, type Version } from './hand-node.ts';

const PATIENT = { timeout: 240_000, interval: 50 };

/** A host with the agent as operators install it, a gateway that can go away, and an operator at its shell. */
export class HandHost {
  readonly node: HandNode;
  readonly #controlAddress: string;
  #gateway = new TestGateway();

  private constructor(node: HandNode, controlAddress: string) {
    this.node = node;
    this.#controlAddress = controlAddress;
  }

  /** @param controlAddress of the lab, where the gateway listens */
  static async make(node: HandNode, controlAddress: string): Promise<HandHost> {
    const made = new HandHost(node, controlAddress);
    await made.#gateway.listen(0, controlAddress);
    const config = {
      control_plane: { address: `${controlAddress}:${made.#gateway.port}` },
      state_dir: AGENT_ON_HOST.stateDir,
      allow_http_hosts: [controlAddress],
      components: [node.component],
    };
    await installAgent(node.host, JSON.stringify(config), 'good-token');
    return made;
  }

  /** By a command of the gateway; the config names the version afterwards. @returns the result */
  upgrade(attemptId: string, from: Version, to: Version): Promise<CommandResult> {
    return this.#does(Operation.UPGRADE, attemptId, from, to);
  }

  /** The node has proved healthy after `upgrade` with the same arguments. */
  confirm(attemptId: string, from: Version, to: Version): Promise<CommandResult> {
    return this.#does(Operation.CONFIRM, attemptId, from, to);
  }

  /** The control plane is gone and the host has no network. */
  async isolate(): Promise<void> {
    this.#gateway.server.forceShutdown();
    await this.node.host.cut('cable');
  }

  /** Network and control plane are back; the agent, started anew, has said hello. */
  async reconnect(): Promise<void> {
    const { port } = this.#gateway;
    this.#gateway.server.forceShutdown(); // of a host that was never cut off it still listens
    this.#gateway = new TestGateway();
    await this.#gateway.listen(port, this.#controlAddress);
    await this.node.host.heal();
    await this.node.host.must('systemctl', 'restart', AGENT_ON_HOST.unit);
  }

  /** The latest that the agent told the gateway of what runs. */
  async reported(): Promise<string | undefined> {
    return this.#gateway.all('heartbeat').at(-1)?.components[0]?.runningChecksum;
  }

  stopAgent(): Promise<string> {
    return this.node.host.must('systemctl', 'stop', AGENT_ON_HOST.unit);
  }

  /** `hoodcloud-agent ARGUMENTS` in the host's shell. */
  hand(...args: string[]): Promise<CommandOutcome> {
    return this.node.host.exec('node', AGENT_ON_HOST.program, ...args);
  }

  /** What a command with `--json` printed. */
  async told<T>(...args: string[]): Promise<T> {
    const { stdout, stderr } = await this.hand(...args, '--json');
    try {
      return JSON.parse(stdout) as T;
    } catch (cause) {
      throw new Error(`${args.join(' ')} printed no JSON: ${stderr}${stdout}`, { cause });
    }
  }

  dispose(): void {
    this.#gateway.server.forceShutdown();
  }

  async #does(operation: Operation, attemptId: string, from: Version, to: Version): Promise<CommandResult> {
    const commandId = `${attemptId}-${Operation[operation]}`;
    this.#gateway.command({
      commandId,
      type: CommandType.UPGRADE,
      expiresInMs: 120_000,
      upgrade: {
        ...{ attemptId, operation, binaryName: 'app', sourceVersion: from, targetVersion: to },
        artifact: this.node.releases[to],
        configFiles: [{ path: CONFIG, content: Buffer.from(configOf(to)) }],
        budgets: { stableMs: 300 },
      },
    });
    return vi.waitFor(() => {
      const result = this.#gateway.all('commandResult').find((one) => one.commandId === commandId);
      if (result === undefined) throw new Error(`no result of ${commandId}`);
      return result;
    }, PATIENT);
  }
}
