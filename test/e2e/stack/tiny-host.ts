import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JoinTokenView, NodeView } from '@hoodcloud/contracts/http/nodes';
import { Child } from './child.ts';
import type { Hoodctl } from './hoodctl.ts';
import type { MetricsExporter } from './metrics-exporter.ts';
import type { Programs } from './programs.ts';
import { TINY_NODE_SCRIPT, type TinyRelease } from './tiny-release.ts';

const run = promisify(execFile);
export const BINARY = 'tinynode';
export const NODE_TYPE = 'validator';

export interface TinyHostParts {
  /** Where agents join, by TLS when `authority` names the PEM file that they trust, and how operators ask. */
  readonly plane: { readonly gateway: string; readonly hoodctl: Hoodctl; readonly authority?: string };
  readonly programs: Programs;
  readonly exporter: MetricsExporter;
  /** Folder for every host of the test. */
  readonly folder: string;
}

/** A folder that stands for a host: the node's program, config and data, the agent's file and state, and a real agent. */
export class TinyHost {
  readonly name: string;
  readonly chain: string;
  readonly root: string;
  readonly agent: Child;
  readonly #parts: TinyHostParts;

  constructor(parts: TinyHostParts, chain: string, name = `${chain}-${randomUUID().slice(0, 4)}`) {
    this.#parts = parts;
    this.chain = chain;
    this.name = name;
    this.root = join(parts.folder, name);
    for (const inner of ['bin', 'config', 'data', 'state']) mkdirSync(join(this.root, inner), { recursive: true });
    const command = [...parts.programs.agent, 'run', '--config', this.agentFile] as const;
    this.agent = new Child(`agent of ${name}`, command, process.env, join(this.root, 'agent.log'));
  }

  get installPath(): string {
    return join(this.root, 'bin', BINARY);
  }

  get configFile(): string {
    return join(this.root, 'config', 'node.conf');
  }

  get dataDir(): string {
    return join(this.root, 'data');
  }

  get agentFile(): string {
    return join(this.root, 'agent.yaml');
  }

  /** Installs a release and writes node and agent files; nothing runs yet. */
  install(release: TinyRelease): void {
    writeFileSync(this.installPath, release.content, { mode: 0o750 });
    writeFileSync(join(this.root, 'node.sh'), TINY_NODE_SCRIPT);
    writeFileSync(this.configFile, 'peers = 10\n', { mode: 0o640 });
    const { plane, exporter } = this.#parts;
    const agent = {
      control_plane: { address: plane.gateway, ...(plane.authority && { tls: { ca_file: plane.authority } }) },
      state_dir: join(this.root, 'state'),
      allow_http_hosts: ['127.0.0.1'],
      components: [
        {
          binary_name: BINARY,
          install_path: this.installPath,
          data_dir: this.dataDir,
          config_roots: [join(this.root, 'config')],
          metrics_url: exporter.urlOf(this.dataDir),
          runtime: {
            type: 'process',
            command: [this.installPath, join(this.root, 'node.sh'), this.dataDir, this.configFile],
            restart_delay_ms: 200,
          },
        },
      ],
    };
    writeFileSync(this.agentFile, JSON.stringify(agent, null, 2)); // JSON is YAML too
  }

  /** Registers the node and exchanges a one-time token, as an operator does it. @returns the token, now used */
  async join(): Promise<string> {
    const { hoodctl } = this.#parts.plane;
    await hoodctl.does('node', 'add', this.name, '--chain', this.chain, '--type', NODE_TYPE);
    const { join_token: token } = await hoodctl.asks<JoinTokenView>('node', 'join-token', this.name);
    await this.agentDoes('join', '--token', token);
    return token;
  }

  /** A command of the agent's program on this host. @throws with what it wrote */
  async agentDoes(...words: string[]): Promise<string> {
    const [program, script] = this.#parts.programs.agent;
    const [name = '', ...rest] = words;
    const { stdout } = await run(program, [script, name, '--config', this.agentFile, ...rest]);
    return stdout;
  }

  view(): Promise<NodeView> {
    return this.#parts.plane.hoodctl.asks<NodeView>('node', 'show', this.name);
  }

  /** Lines of the node's own journal: one per start or stop, naming the release. */
  journal(of: 'starts' | 'stops'): string[] {
    const file = join(this.dataDir, of);
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  }

  /** From now on the node stops only when `stopAtLast` lets it. */
  stopSlowly(): void {
    rmSync(join(this.dataDir, 'may-stop'), { force: true });
    rmSync(join(this.dataDir, 'closing'), { force: true });
    writeFileSync(join(this.dataDir, 'slow'), '');
  }

  /** The node was told to stop and hasn't ended yet. */
  isClosing(): boolean {
    return existsSync(join(this.dataDir, 'closing'));
  }

  stopAtLast(): void {
    writeFileSync(join(this.dataDir, 'may-stop'), '');
  }

  /** Ends agent, node and supervisor, and waits for each. */
  async dispose(): Promise<void> {
    await this.agent.stop();
    this.stopAtLast();
    if (existsSync(join(this.root, 'state', 'process', BINARY))) {
      await this.agentDoes('stop-node', BINARY, '--supervisor').catch(() => this.#endSupervisor());
    }
  }

  /** What is held down by an unsettled attempt refuses an operator's stop. */
  #endSupervisor(): void {
    const state = JSON.parse(readFileSync(join(this.root, 'state', 'process', BINARY, 'state.json'), 'utf8'));
    for (const pid of [state.supervisor?.pid, state.child?.pid]) {
      try {
        if (typeof pid === 'number') process.kill(pid, 'SIGTERM');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it has ended already
      }
    }
  }
}
