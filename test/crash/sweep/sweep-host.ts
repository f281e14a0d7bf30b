import { cp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonValue } from '@bufbuild/protobuf';
import type { UpgradeOrder } from '@hoodcloud/agent/upgrade/drive-upgrade';
import { bundleForHost } from '@hoodcloud/testkit/host-lab/bundle-for-host';
import type { HostLab } from '@hoodcloud/testkit/host-lab/host-lab';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { snapshotOf } from '../host-containers.ts';
import { HostView, type Snapshot } from '../host-view.ts';
import { type Adapter, agentConfig, RUNTIMES } from '../runtimes.ts';
import { type Release, SERVICE } from '../small-service.ts';
import { MUTATING_CALLS } from './disk-change.ts';
import { parseStraceLog, type SystemCall } from './strace-log.ts';

const DRIVER = fileURLToPath(new URL('../../../packages/agent/src/upgrade/drive-upgrade.ts', import.meta.url));
const PROGRAM = '/opt/hoodcloud/drive.mjs';
const CONFIG = '/etc/hoodcloud/agent.yaml';
const LOG = '/var/log/strace.log';
/** What the agent keeps between attempts; put back before each run, so that every run makes the same calls. */
const MEMORY = ['/var/lib/hoodcloud/attempts', `${SERVICE.dataDir}/.upgrade-backup`];
export const ATTEMPT = 'attempt-x';

/** What one life of the agent's process said. */
export interface DriveOutcome {
  readonly results: readonly ToldResult[];
  readonly said: string;
  readonly code: number;
}

/** The part of a `CommandResult` that is judged. */
export interface ToldResult {
  readonly commandId: string;
  readonly outcome: string;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly runningChecksum?: string;
}

/** A lab host with the small service, on which the agent's executor runs under `strace`, without a control plane. */
export class SweepHost {
  readonly host: Host;
  readonly adapter: Adapter;
  readonly view: HostView;
  readonly #kept: string;

  private constructor(host: Host, adapter: Adapter, view: HostView, kept: string) {
    this.host = host;
    this.adapter = adapter;
    this.view = view;
    this.#kept = kept;
  }

  /** @param earlier releases that were installed before `first`: their backups are what a run prunes */
  static async open(lab: HostLab, { adapter, name, kept, earlier, first }: SweepHostOptions): Promise<SweepHost> {
    const host = await lab.up(name);
    const [oldest = first, ...later] = [...earlier, first];
    await RUNTIMES[adapter].install(lab, host, oldest);
    await host.writeFile(CONFIG, agentConfig(adapter, `${lab.controlAddress}:1`, lab.controlAddress));
    await bundleForHost(host, DRIVER, PROGRAM);
    const pid = await host.pid();
    if (pid === undefined) throw new Error(`${name} has no power`);
    const sweep = new SweepHost(host, adapter, new HostView(pid), kept);
    await host.sh('mkdir -p /var/lib/hoodcloud');
    for (const release of later) {
      const outcome = await sweep.drive(sweep.order(release, 'UPGRADE', `kept-${release.version}`));
      if (outcome.results.at(-1)?.outcome !== 'OUTCOME_COMPLETED') throw new Error(outcome.said);
      await sweep.confirm(release, `kept-${release.version}`);
    }
    for (const [index, folder] of MEMORY.entries()) {
      await cp(join(host.root, folder), join(kept, `${name}-${index}`), { recursive: true, preserveTimestamps: true });
    }
    return sweep;
  }

  /** The agent remembers the earlier releases again, and nothing else. */
  async forgetRuns(): Promise<void> {
    for (const [index, folder] of MEMORY.entries()) {
      await rm(join(this.host.root, folder), { recursive: true, force: true });
      await cp(join(this.#kept, `${this.host.name}-${index}`), join(this.host.root, folder), {
        recursive: true,
        preserveTimestamps: true,
      });
    }
  }

  /** A `Command` of the wire as JSON. */
  order(to: Release, operation: 'UPGRADE' | 'COMPENSATE' | 'CONFIRM' = 'UPGRADE', attemptId = ATTEMPT): JsonValue {
    return {
      commandId: `${attemptId}-${operation}`,
      type: 'COMMAND_TYPE_UPGRADE',
      expiresInMs: 120_000,
      upgrade: {
        attemptId,
        operation: `OPERATION_${operation}`,
        upgradeId: to.version,
        binaryName: SERVICE.name,
        targetVersion: to.version,
        artifact: {
          kind: to.kind === 'file' ? 'ARTIFACT_KIND_FILE' : 'ARTIFACT_KIND_IMAGE',
          url: to.url,
          checksum: to.checksum,
        },
        configFiles: RUNTIMES[this.adapter].configsOf(to.version).map(({ path, content }) => ({
          path,
          content: content.toString('base64'),
        })),
        budgets: { stableMs: 300, startMs: 20_000 },
      },
    };
  }

  /** As after a passed health validation: a container that only an undo needs goes (B2). Elsewhere there is nothing. */
  async confirm(release: Release, attemptId = ATTEMPT): Promise<void> {
    if (this.adapter !== 'docker') return;
    const { results, said } = await this.drive(this.order(release, 'CONFIRM', attemptId));
    if (results.at(-1)?.outcome !== 'OUTCOME_COMPLETED') throw new Error(said);
  }

  /** Runs the agent's process once, to its end. @param strace arguments of `strace`; none: it runs without it */
  async drive(command: JsonValue, strace: readonly string[] = []): Promise<DriveOutcome> {
    const order: UpgradeOrder = { configFile: CONFIG, command };
    const traced = strace.length === 0 ? [] : ['strace', '-f', '-qq', '-o', LOG, ...strace];
    const program = ['env', 'UV_THREADPOOL_SIZE=1', ...traced, 'node', PROGRAM, JSON.stringify(order)];
    const { stdout, stderr, code } = await this.host.exec(...program);
    const results = stdout.split('\n').filter((line) => line.startsWith('{"commandId"'));
    return { results: results.map((line) => JSON.parse(line)), said: `${stderr}${stdout}`, code };
  }

  /** Runs the agent's process once, harmed as `strace` is told; `happened`: the call that was meant did come. */
  async harm(command: JsonValue, strace: readonly string[]): Promise<DriveOutcome & { readonly happened: boolean }> {
    const outcome = await this.drive(command, strace);
    const log = await readFile(join(this.host.root, LOG), 'utf8');
    return { ...outcome, happened: /\(INJECTED\)|killed by SIGKILL/.test(log) };
  }

  /** Runs the agent's process once and answers every call by which it could have changed a file. */
  async trace(command: JsonValue): Promise<{ outcome: DriveOutcome; calls: SystemCall[] }> {
    const outcome = await this.drive(command, ['-y', '-s', '0', '-e', `trace=${MUTATING_CALLS.join(',')}`]);
    return { outcome, calls: parseStraceLog(await readFile(join(this.host.root, LOG), 'utf8')) };
  }

  /** Operations on the disk that have no result: what a restarted agent would go on with. */
  async openOperations(): Promise<string[]> {
    const folder = join(this.host.root, MEMORY[0] ?? '');
    const records = (await readdir(folder)).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
    const open = records.map(async (name) => {
      const { operations } = JSON.parse(await readFile(join(folder, name), 'utf8')) as Recorded;
      return Object.entries(operations).flatMap(([operation, { result }]) =>
        result === null ? [`${name} ${operation}`] : [],
      );
    });
    return (await Promise.all(open)).flat();
  }

  snapshot(): Promise<Snapshot> {
    return snapshotOf(this.host, this.view, this.adapter);
  }
}

interface SweepHostOptions {
  readonly adapter: Adapter;
  readonly name: string;
  /** A folder of the machine for the copy of what the agent remembers. */
  readonly kept: string;
  readonly earlier: readonly Release[];
  readonly first: Release;
}

interface Recorded {
  readonly operations: Readonly<Record<string, { readonly result: JsonValue }>>;
}
