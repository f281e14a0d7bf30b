import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ArtifactKind } from '@hoodcloud/contracts/wire/agent-v1';
import type { GatewayFixture } from '@hoodcloud/controlplane/gateway/testing/gateway-fixture';
import { issueJoinToken } from '@hoodcloud/controlplane/nodes/node-service';
import type { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { AGENT_ON_HOST, installAgent } from '@hoodcloud/testkit/host-lab/agent-on-host';
import type { HostLab } from '@hoodcloud/testkit/host-lab/host-lab';
import { insertNode } from '@hoodcloud/testkit/rows';
import { eventually } from '../eventually.ts';
import { type Adapter, type CrashCell, nameOf } from './crash-cells.ts';
import { CrashHost, type HostLook } from './crash-host.ts';
import { agentConfig, configsOf, installService, type Release, SERVICE } from './small-service.ts';

/** What every lane shares. */
export interface CrashGround {
  readonly lab: HostLab;
  readonly fixture: GatewayFixture;
  /** `host:port` */
  readonly gateway: string;
  readonly artifacts: ArtifactServer;
  readonly good: readonly [Release, Release];
  readonly bad: Release;
  /** Each cell's log is kept here. */
  readonly logs: string;
}

/** What became of one crash. */
export interface CrashOutcome {
  /** Everything of the old release or everything of the new one; `mixed` says what does not fit. */
  readonly host: 'old' | 'new' | `mixed: ${string}`;
  /** The same of the host after a power cut, before its agent was started (`bad`: the release that ends at once, unheld); null when only the agent was killed. */
  readonly atBoot: 'old' | 'new' | 'bad' | 'down' | `mixed: ${string}` | null;
  /** From the command's row. */
  readonly reported: string;
  readonly stops: number;
  readonly leftovers: readonly string[];
  readonly attributesKept: boolean;
  /** Other results of the same command, or a row that is open still. */
  readonly log: string;
}

/** One host with one adapter, on which crashes happen one after another. */
export class CrashLane {
  readonly #ground: CrashGround;
  readonly #adapter: Adapter;
  readonly #host: CrashHost;
  readonly #nodeId: string;
  #installed: Release;

  private constructor(ground: CrashGround, adapter: Adapter, host: CrashHost, nodeId: string) {
    this.#ground = ground;
    this.#adapter = adapter;
    this.#host = host;
    this.#nodeId = nodeId;
    this.#installed = ground.good[0];
  }

  /** A new host with the service in its first release and a joined agent. */
  static async open(ground: CrashGround, adapter: Adapter, name: string): Promise<CrashLane> {
    const { lab, fixture, gateway, good } = ground;
    const host = await lab.up(name);
    await installService(host, good[0], adapter);
    const nodeId = await insertNode(fixture.db, { name, runningChecksum: null, joined_at: null });
    const token = await issueJoinToken(fixture.db, { nodeId, expiresInSeconds: 600, actor: 'key:test' });
    await installAgent(host, agentConfig(adapter, gateway, lab.controlAddress), token.join_token);
    const lane = new CrashLane(ground, adapter, new CrashHost(host), nodeId);
    await eventually('the service runs', async () => (await lane.#host.look()).running.length === 1);
    return lane;
  }

  async close(): Promise<void> {
    await this.#host.host.down();
  }

  /** Upgrades, crashes at the cell's point and waits until the host has come to rest. */
  async run(cell: CrashCell): Promise<CrashOutcome> {
    const { good, bad } = this.#ground;
    const from = this.#installed;
    const to = cell.release === 'bad' ? bad : (good.find((release) => release !== from) ?? good[1]);
    const before = await this.#host.look();
    const since = await this.#host.now();
    const stops = await this.#host.stops();
    await this.#host.arm(cell.point);
    const command = await this.#command(to);
    try {
      const pid = await this.#host.agentAtPoint();
      const atBoot = cell.cut === 'power_lost' ? await this.#losePower(from, to) : await this.#kill(pid);
      const reported = await this.#result(command.commandId);
      const after = await this.#host.look();
      const host = this.#judge(after, from, to);
      if (host === 'new') this.#installed = to;
      return {
        host: host === 'down' ? 'mixed: the service is down' : host,
        atBoot,
        reported,
        stops: (await this.#host.stops()) - stops,
        leftovers: after.leftovers,
        attributesKept: after.attributes === before.attributes,
        log: join(this.#ground.logs, `${nameOf(cell)}.log`),
      };
    } finally {
      await this.#keepLog(cell, command.commandId, command.attemptId, since);
      await this.#endRow(command.rolloutNodeId);
    }
  }

  async #kill(pid: number): Promise<null> {
    await this.#host.killAgent(pid);
    return null;
  }

  async #losePower(from: Release, to: Release): Promise<CrashOutcome['atBoot']> {
    await this.#host.powerCycleWithoutAgent();
    const look = await this.#host.look();
    await this.#host.startAgent();
    const held = look.leftovers.some((path) => path.includes('/hold'));
    if (look.installed === this.#ground.bad.checksum && !held) return 'bad'; // it crashes in a loop, whatever was seen
    return this.#judge(look, from, to);
  }

  #command(to: Release) {
    const { fixture, artifacts } = this.#ground;
    return fixture.command(this.#nodeId, {
      payload: {
        upgradeId: to.version,
        binaryName: SERVICE.name,
        targetVersion: to.version,
        artifact: { kind: ArtifactKind.FILE, url: `${artifacts.origin}/${to.version}`, checksum: to.checksum },
        configFiles: configsOf(to.version, this.#adapter),
        budgets: { stableMs: 200 },
      },
    });
  }

  /** The outcome in the command's row, once it has ended and the host's agent knows that it has. */
  async #result(commandId: string): Promise<string> {
    const row = await eventually('the command ended', async () => {
      const row = await this.#ground.fixture.commandRow(commandId);
      return row.ended_at === null ? null : row;
    });
    const late = row.late_result === null ? '' : ', told a second time otherwise';
    return `${row.outcome}${late}`;
  }

  /** All of one release: what is installed, what runs and how often, its configs and what its process was given. */
  #judge(look: HostLook, from: Release, to: Release): 'old' | 'new' | 'down' | `mixed: ${string}` {
    const release = [from, to].find(({ checksum }) => checksum === look.installed);
    const wanted = configsOf(release?.version ?? '', this.#adapter);
    const stray = wanted.filter(({ path, content }) => look.configs[path] !== content.toString());
    if (look.running.length === 0) return 'down';
    const fits =
      look.running.length === 1 &&
      look.running[0] === look.installed &&
      stray.length === 0 &&
      (this.#adapter === 'process' || look.environment[0] === release?.version);
    if (release === undefined || !fits) return `mixed: ${JSON.stringify(look)}`;
    return release === to ? 'new' : 'old';
  }

  async #keepLog(cell: CrashCell, commandId: string, attemptId: string, since: string): Promise<void> {
    const { fixture, logs } = this.#ground;
    const { payload, ...row } = await fixture.commandRow(commandId);
    const record = await this.#host.host.exec('cat', `${AGENT_ON_HOST.stateDir}/attempts/${attemptId}.json`);
    const parts = [
      `# ${nameOf(cell)}`,
      `## the host's journal\n${await this.#host.logSince(since)}`,
      `## the attempt's record\n${record.stdout}`,
      `## the command's row (payload: ${payload.length} bytes)\n${JSON.stringify(row, null, 2)}`,
      `## the host at the end\n${JSON.stringify(await this.#host.look(), null, 2)}`,
    ];
    await mkdir(logs, { recursive: true });
    await writeFile(join(logs, `${nameOf(cell)}.log`), `${parts.join('\n\n')}\n`);
  }

  /** The next attempt on the node may begin (C2a). */
  async #endRow(rolloutNodeId: string): Promise<void> {
    const { db } = this.#ground.fixture;
    await db.updateTable('rollout_nodes').set({ status: 'succeeded' }).where('id', '=', rolloutNodeId).execute();
  }
}
