import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArtifactKind, type CommandResult, CommandType, Operation } from '@hoodcloud/contracts/wire/agent-v1';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { pino } from 'pino';
import { vi } from 'vitest';
import { runAgent } from '../agent.ts';
import { type AgentConfig, parseAgentConfig } from '../agent-config.ts';
import { checksumOf } from '../host/file-hash.ts';
import { joinHost } from '../membership.ts';
import { nodeStop } from '../node-commands.ts';
import { writeWithFolders } from '../runtime/conformance.ts';
import { TEST_NODE_SCRIPT, testArtifact } from '../runtime/test-artifacts.ts';
import { TestGateway } from './test-gateway.ts';

const PATIENT = { timeout: 60_000, interval: 50 };

/** A host in a folder: one component under our own supervisor, an agent in this process, a gateway and releases. */
export class ProcessHost {
  readonly folder: string;
  readonly config: AgentConfig;
  readonly gateway: TestGateway;
  readonly releases: ArtifactServer;
  #agent: { readonly ending: AbortController; readonly ended: Promise<void> } | null = null;

  private constructor(folder: string, config: AgentConfig, gateway: TestGateway, releases: ArtifactServer) {
    this.folder = folder;
    this.config = config;
    this.gateway = gateway;
    this.releases = releases;
  }

  /** @param change fields of the component that differ */
  static async make(change: object = {}): Promise<ProcessHost> {
    const folder = await mkdtemp(join(tmpdir(), 'hoodcloud-host-'));
    const gateway = new TestGateway();
    await gateway.listen();
    const installPath = join(folder, 'bin', 'node');
    await writeWithFolders(installPath, await testArtifact('runs'), 0o755);
    await writeWithFolders(join(folder, 'node.sh'), TEST_NODE_SCRIPT, 0o644);
    await writeWithFolders(join(folder, 'etc', 'config.toml'), 'peers = 10\n', 0o640);
    const component = {
      binary_name: 'node',
      install_path: installPath,
      data_dir: join(folder, 'data'),
      config_roots: [join(folder, 'etc')],
      runtime: { type: 'process', command: [installPath, join(folder, 'node.sh')], restart_delay_ms: 200 },
      ...change,
    };
    const config = {
      control_plane: { address: `127.0.0.1:${gateway.port}` },
      state_dir: join(folder, 'state'),
      allow_http_hosts: ['127.0.0.1'],
      components: [component],
    };
    const parsed = parseAgentConfig('agent.yaml', JSON.stringify(config));
    return new ProcessHost(folder, parsed, gateway, await ArtifactServer.listen());
  }

  /** Joins when it hasn't, and runs the agent until its node is seen to be up. */
  async startAgent(): Promise<void> {
    if (this.gateway.tokens.has('good-token')) await joinHost(this.config, 'good-token', () => undefined);
    const ending = new AbortController();
    const heard = this.gateway.all('heartbeat').length;
    this.#agent = { ending, ended: runAgent(this.config, pino({ level: 'silent' }), ending.signal) };
    await vi.waitFor(() => {
      const beat = this.gateway.all('heartbeat').slice(heard).at(-1);
      if (beat?.components[0]?.active !== true) throw new Error('the node is not up');
    }, PATIENT);
  }

  async stopAgent(): Promise<void> {
    this.#agent?.ending.abort();
    await this.#agent?.ended;
    this.#agent = null;
  }

  /** Upgrades by a command of the gateway, config included. @returns the result */
  async upgrade(attemptId: string, behaviour: 'runs' | 'crashes' = 'runs'): Promise<CommandResult> {
    const content = await testArtifact(behaviour);
    const commandId = `command-${attemptId}`;
    this.gateway.command({
      commandId,
      type: CommandType.UPGRADE,
      expiresInMs: 120_000,
      upgrade: {
        attemptId,
        operation: Operation.UPGRADE,
        binaryName: 'node',
        sourceVersion: 'v1.0.0',
        targetVersion: 'v2.0.0',
        artifact: {
          kind: ArtifactKind.FILE,
          url: this.releases.publish(attemptId, content),
          checksum: checksumOf(content),
        },
        configFiles: [{ path: join(this.folder, 'etc', 'config.toml'), content: Buffer.from('peers = 100\n') }],
        budgets: { stableMs: 300 },
      },
    });
    return this.resultOf(attemptId);
  }

  /** The result of an attempt, as the gateway hears it. */
  async resultOf(attemptId: string): Promise<CommandResult> {
    const result = await vi.waitFor(() => {
      const found = this.gateway.all('commandResult').find((one) => one.attemptId.startsWith(attemptId));
      if (found === undefined) throw new Error(`no result of ${attemptId}`);
      return found;
    }, PATIENT);
    this.gateway.say({ case: 'resultAck', value: { commandId: result.commandId } });
    return result;
  }

  file(...path: string[]): Promise<string> {
    return readFile(join(this.folder, ...path), 'utf8');
  }

  async dispose(): Promise<void> {
    await this.stopAgent();
    await nodeStop(this.config, 'node', true);
    this.gateway.server.forceShutdown();
    await this.releases.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
