import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ArtifactKind } from '@hoodcloud/contracts/wire/agent-v1';
import { issueJoinToken } from '@hoodcloud/controlplane/nodes/node-service';
import { AGENT_ON_HOST, installAgent } from '@hoodcloud/testkit/host-lab/agent-on-host';
import { insertNode } from '@hoodcloud/testkit/rows';
import { until } from '@hoodcloud/testkit/until';
import { type CrashCell, type Fault, nameOf } from './crash-cells.ts';
import type { CrashGround, Releases } from './crash-ground.ts';
import { CrashHost } from './crash-host.ts';
import { FAULT_ACTIONS, giveSmallDisk, LaneGateway } from './faults.ts';
import { differences, type Snapshot } from './host-view.ts';
import { installWatcher, watchReport } from './host-watcher.ts';
import { type Adapter, agentConfig, RUNTIMES } from './runtimes.ts';
import { type Release, SERVICE } from './small-service.ts';
import type { WatchReport } from './watch-instances.ts';

/** What became of one cell. */
export interface CrashOutcome {
  /** The release that the host is wholly of. */
  readonly host: 'old' | 'new';
  /** From the command's row. */
  readonly reported: string;
  /** What runs after a power cut before the agent does anything: a release, nothing, or something that ends at once. */
  readonly atBoot: 'old' | 'new' | 'bad' | 'down' | null;
  readonly stops: number;
  readonly seconds: number;
  /** Broken rules, a sentence each. */
  readonly violations: readonly string[];
  readonly log: string;
}

/** A command that an agent was given. */
interface Ordered {
  readonly commandId: string;
  readonly attemptId: string;
  readonly rolloutNodeId: string;
}

/** Faults by which the agent is held up, and not its way forward. */
const UNHARMED: readonly Fault[] = ['agent_killed', 'power_lost', 'network_cut', 'control_plane_gone'];
/** Where the enabled service must not come up by itself: something may be half changed (A18a). */
const HELD =
  /^(after:stop_node|(before|during|after):(install_artifact|write_configs|reload_daemon)|before:start_node)$/;

/** One host under one runtime, on which faults happen one after another. */
export class CrashLane {
  readonly adapter: Adapter;
  readonly #ground: CrashGround;
  readonly #crash: CrashHost;
  readonly #gateway: LaneGateway;
  readonly #nodeId: string;
  readonly #releases: Releases;
  /** Version → the whole host as it is when everything is of that release. */
  readonly #states = new Map<string, Snapshot>();
  #installed: Release;
  #stepTimes: Readonly<Record<string, number>> = {};

  private constructor(
    ground: CrashGround,
    adapter: Adapter,
    parts: {
      readonly crash: CrashHost;
      readonly gateway: LaneGateway;
      readonly nodeId: string;
      readonly releases: Releases;
    },
  ) {
    this.#ground = ground;
    this.adapter = adapter;
    this.#crash = parts.crash;
    this.#gateway = parts.gateway;
    this.#nodeId = parts.nodeId;
    this.#releases = parts.releases;
    this.#installed = parts.releases.good[0];
  }

  /** A new host with the service, a joined agent and a watcher; it has been upgraded once without any fault. */
  static async open(ground: CrashGround, adapter: Adapter, name: string, smallDisk: boolean): Promise<CrashLane> {
    const { lab, fixture } = ground;
    const host = await lab.up(name);
    if (smallDisk) await giveSmallDisk(host);
    const releases = ground.releasesOf(adapter === 'docker' ? 'image' : 'file');
    await RUNTIMES[adapter].install(lab, host, releases.good[0]);
    const gateway = await LaneGateway.listen(fixture, lab.controlAddress);
    const nodeId = await insertNode(fixture.db, {
      name: `${name}-${Date.now()}`,
      runningChecksum: null,
      joined_at: null,
    });
    const token = await issueJoinToken(fixture.db, { nodeId, expiresInSeconds: 600, actor: 'key:test' });
    await installWatcher(host);
    await installAgent(host, agentConfig(adapter, gateway.address, lab.controlAddress), token.join_token);
    const crash = new CrashHost(host, adapter);
    const lane = new CrashLane(ground, adapter, { crash, gateway, nodeId, releases });
    await until('the service to run', async () => (await crash.instances()).length === 1);
    lane.#states.set(releases.good[0].version, await crash.snapshot());
    await lane.#upgradeInPeace();
    return lane;
  }

  async close(): Promise<void> {
    await this.#crash.host.down();
    await this.#gateway.stop();
  }

  watched(): Promise<WatchReport> {
    return watchReport(this.#crash.host);
  }

  /** Upgrades, lets the fault happen at the cell's point and waits until the host has come to rest. */
  async run(cell: CrashCell): Promise<CrashOutcome> {
    const began = performance.now();
    const since = await this.#crash.now();
    const from = this.#installed;
    const to = cell.release === 'bad' ? this.#releases.bad : this.#other();
    const stops = await this.#crash.stops();
    await RUNTIMES[this.adapter].forget(this.#crash.host, to);
    await this.#crash.arm(cell.point, this.#middleOf(cell.point));
    const upgrade = await this.#command('UPGRADE', to);
    const harmed = cell.release === 'recalled' ? await this.#recall(upgrade, to) : upgrade;
    let atBoot: CrashOutcome['atBoot'] = null;
    await FAULT_ACTIONS[cell.fault]({
      crash: this.#crash,
      gateway: this.#gateway,
      pid: await this.#pidAtPoint(harmed),
      hasEnded: async () => (await this.#row(harmed.commandId)).ended_at !== null,
      atBoot: async () => {
        await RUNTIMES[this.adapter].settleAfterBoot(this.#crash.host);
        atBoot = await this.#bootedInto(from, to);
      },
    });
    let reported = await this.#result(harmed.commandId);
    await this.#endRow(harmed.rolloutNodeId);
    if (reported === 'failed_rollback') {
      // a disk that refuses an undo needs a person, who frees it and goes back by hand (ADR 0013)
      reported = `failed_rollback, then ${await this.#crash.rollBackByHand()}`;
    }
    const isNew = reported === 'completed' && cell.release === 'good';
    this.#installed = isNew ? to : from;
    if (isNew) await this.#confirm(to, upgrade.attemptId);
    const outcome = {
      host: isNew ? ('new' as const) : ('old' as const),
      ...{ reported, atBoot, stops: (await this.#crash.stops()) - stops },
      seconds: (performance.now() - began) / 1000,
      log: join(this.#ground.logs, `${nameOf(cell)}.log`),
    };
    const violations = [...this.#judge(cell, outcome), ...(await this.#judgeHost())];
    if (violations.length > 0) await this.#keepLog(outcome.log, violations, upgrade, since);
    return { ...outcome, violations };
  }

  /** @throws Error with what was told when the work ended before it came to the point */
  async #pidAtPoint({ commandId, attemptId }: Ordered): Promise<number> {
    const seen = await until('the agent at its fault point', async () => {
      const pid = await this.#crash.agentAtPoint();
      const row = await this.#row(commandId);
      return pid !== null || row.ended_at !== null ? { pid, row } : null;
    });
    if (seen.pid !== null) return seen.pid;
    const record = await this.#crash.host.exec('cat', `${AGENT_ON_HOST.stateDir}/attempts/${attemptId}.json`);
    throw new Error(`it ended ${seen.row.outcome} before it came to the point:\n${record.stdout}`);
  }

  /** The upgrade is done, and its validation has failed (C10b). @returns the order to undo it */
  async #recall({ commandId, attemptId, rolloutNodeId }: Ordered, to: Release): Promise<Ordered> {
    const reported = await this.#result(commandId);
    if (reported !== 'completed') throw new Error(`the upgrade that is to be recalled ended ${reported}`);
    await this.#endRow(rolloutNodeId);
    return this.#command('COMPENSATE', to, attemptId);
  }

  /** What was told fits the fault. */
  #judge({ fault, release, point }: CrashCell, outcome: Omit<CrashOutcome, 'violations'>): string[] {
    const { reported, stops, atBoot } = outcome;
    const undone = ['rolled_back', 'failed_rollback, then rolled back by hand'];
    const goesOn = UNHARMED.includes(fault);
    const goodEndings = goesOn ? ['completed'] : ['completed', ...undone];
    const endings = release === 'good' ? goodEndings : undone.slice(0, goesOn ? 1 : 2);
    const found = endings.includes(reported) ? [] : [`it was reported as ${reported}`];
    const wanted = release === 'recalled' ? 2 : 1;
    // an undo that the disk refused may have left the new version running, which the undo by hand then stops
    const most = reported.startsWith('failed_rollback') ? wanted + 1 : wanted;
    // the power may go before the service was asked, and a hold keeps down what it took with it (A18a)
    const least = fault === 'power_lost' && atBoot === 'down' && mayLieInStop(release, point) ? wanted - 1 : wanted;
    if (goesOn ? stops < least || stops > wanted : stops > most)
      found.push(`the service was asked to stop ${stops} times`);
    if (fault === 'power_lost' && HELD.test(point) && atBoot !== 'down') {
      found.push(`half changed, it came up at boot as ${atBoot}`);
    }
    return found;
  }

  /** The host is all of the release that it should be of, once what the agent tidies up last is gone. */
  async #judgeHost(): Promise<string[]> {
    const { version, executable } = this.#installed;
    const found: string[] = [];
    const instances = await this.#crash.instances();
    if (instances.length !== 1) found.push(`${instances.length} instances run`);
    for (const instance of instances) {
      if (instance.executable !== executable) found.push(`${instance.executable} runs, which is not of ${version}`);
      if (RUNTIMES[this.adapter].tellsVersion && instance.version !== version) {
        found.push(`it was started with the definition of ${instance.version}, not of ${version}`);
      }
    }
    const leftovers = await withPatience(() => this.#crash.leftovers());
    found.push(...leftovers.map((path) => `${path} was left over`));
    return [...found, ...differences(this.#states.get(version) ?? {}, await this.#crash.snapshot())];
  }

  async #bootedInto(from: Release, to: Release): Promise<CrashOutcome['atBoot']> {
    const [instance, ...more] = await this.#crash.instances();
    const { bad } = this.#releases;
    if (instance === undefined) {
      const isBad = to === bad && (await this.#crash.isHeld()) === false;
      return isBad ? 'bad' : 'down'; // one that ends at once is down whenever nobody looks
    }
    if (more.length > 0) throw new Error('two instances run after the boot');
    if (instance.executable === bad.executable) return 'bad';
    return instance.executable === from.executable ? 'old' : 'new';
  }

  /** Half of what the step, or its counterpart, took without any fault; 0 for a point that is no middle. */
  #middleOf(point: string): number {
    const [kind = '', step = ''] = point.split(':');
    if (!kind.startsWith('during')) return 0;
    const opposite: Readonly<Record<string, string>> = { start_node: 'stop_node', stop_node: 'start_node' };
    const measured = kind === 'during-undo' ? (opposite[step] ?? step) : step;
    return Math.max(1, Math.floor((this.#stepTimes[measured] ?? 0) / 2));
  }

  async #upgradeInPeace(): Promise<void> {
    const to = this.#other();
    const upgrade = await this.#command('UPGRADE', to);
    const reported = await this.#result(upgrade.commandId);
    if (reported !== 'completed') throw new Error(`an upgrade without any fault ended ${reported}`);
    this.#stepTimes = await this.#crash.stepTimes();
    await this.#endRow(upgrade.rolloutNodeId);
    await this.#confirm(to, upgrade.attemptId);
    this.#installed = to;
    this.#states.set(to.version, await this.#crash.snapshot());
  }

  /** As after a passed health validation: a container that only an undo needs goes (B2). */
  async #confirm(to: Release, attemptId: string): Promise<void> {
    const { commandId, rolloutNodeId } = await this.#command('CONFIRM', to, attemptId);
    const reported = await this.#result(commandId);
    if (reported !== 'completed') throw new Error(`the confirmation ended ${reported}`);
    await this.#endRow(rolloutNodeId);
  }

  #other(): Release {
    const { good } = this.#releases;
    return good.find((release) => release !== this.#installed) ?? good[1];
  }

  async #command(operation: 'UPGRADE' | 'COMPENSATE' | 'CONFIRM', to: Release, attemptId?: string): Promise<Ordered> {
    const kind = to.kind === 'image' ? ArtifactKind.IMAGE : ArtifactKind.FILE;
    return this.#ground.fixture.command(this.#nodeId, {
      operation,
      ...(attemptId === undefined ? {} : { attemptId }),
      payload: {
        upgradeId: to.version,
        binaryName: SERVICE.name,
        targetVersion: to.version,
        artifact: { kind, url: to.url, checksum: to.checksum },
        configFiles: RUNTIMES[this.adapter].configsOf(to.version),
        budgets: { stableMs: 200 },
      },
    });
  }

  #row(commandId: string) {
    return this.#ground.fixture.commandRow(commandId);
  }

  /** The outcome in the command's row, once it has ended. */
  async #result(commandId: string): Promise<string> {
    const row = await until('the end of the command', async () => {
      const found = await this.#row(commandId);
      return found.ended_at === null ? null : found;
    });
    return `${row.outcome}${row.late_result === null ? '' : ', told a second time otherwise'}`;
  }

  async #keepLog(
    file: string,
    violations: readonly string[],
    { commandId, attemptId }: { commandId: string; attemptId: string },
    since: string,
  ): Promise<void> {
    const { payload, ...row } = await this.#row(commandId);
    const record = await this.#crash.host.exec('cat', `${AGENT_ON_HOST.stateDir}/attempts/${attemptId}.json`);
    const parts = [
      `## broken\n${violations.join('\n')}`,
      `## the host's journal\n${await this.#crash.logSince(since)}`,
      `## the attempt's record\n${record.stdout}`,
      `## the command's row (payload: ${payload.length} bytes)\n${JSON.stringify(row, null, 2)}`,
    ];
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, `${parts.join('\n\n')}\n`);
  }

  /** The next attempt on the node may begin (C2a). */
  async #endRow(rolloutNodeId: string): Promise<void> {
    const { db } = this.#ground.fixture;
    await db.updateTable('rollout_nodes').set({ status: 'succeeded' }).where('id', '=', rolloutNodeId).execute();
  }
}

/**
 * The point may lie within the step that asks the service to stop. The middle of a step is reckoned from how long the step
 * took in peace, so that of a short one before the stop may come when the stop has begun.
 */
function mayLieInStop(release: CrashCell['release'], point: string): boolean {
  if (release === 'recalled') return point === 'during-undo:start_node';
  return point === 'during:verify_artifact' || point === 'during:stop_node';
}

/** The agent writes its own memory last: what is of it goes by itself within moments. */
async function withPatience(look: () => Promise<string[]>): Promise<string[]> {
  const end = Date.now() + 5_000;
  let found = await look();
  while (found.length > 0 && Date.now() < end) found = await look();
  return found;
}
