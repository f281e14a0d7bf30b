import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { engineOf } from '@hoodcloud/testkit/docker-lab/docker-host';
import { AGENT_ON_HOST } from '@hoodcloud/testkit/host-lab/agent-on-host';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { snapshotOf } from './host-containers.ts';
import { HostView, type Instance, type Snapshot } from './host-view.ts';
import type { Adapter } from './runtimes.ts';
import { SERVICE } from './small-service.ts';

/** On the host's disk: what the agent writes when it stands at its fault point survives a power cut. */
const FAULT_FILE = '/var/lib/fault-reached';
/** Where the agent keeps what it needs between attempts. */
const MEMORY = [`${AGENT_ON_HOST.stateDir}/attempts`, `${SERVICE.dataDir}/.upgrade-backup`];

/** A lab host whose agent can be caught at a point of its work. */
export class CrashHost {
  readonly host: Host;
  readonly #adapter: Adapter;
  #view: HostView | null = null;

  constructor(host: Host, adapter: Adapter) {
    this.host = host;
    this.#adapter = adapter;
  }

  /** The host from outside, in its present boot. */
  async view(): Promise<HostView> {
    if (this.#view === null) {
      const pid = await this.host.pid();
      if (pid === undefined) throw new Error(`${this.host.name} has no power`);
      this.#view = new HostView(pid);
    }
    return this.#view;
  }

  instances(): Promise<Instance[]> {
    return this.view().then((view) => view.instances());
  }

  /** Files and containers. */
  async snapshot(): Promise<Snapshot> {
    return snapshotOf(this.host, await this.view(), this.#adapter);
  }

  async leftovers(): Promise<string[]> {
    return (await this.view()).leftovers();
  }

  /** The agent forgets its attempts and is started anew, to stop itself when it comes to the point. */
  async arm(point: string, afterMs: number): Promise<void> {
    const environment = `HOODCLOUD_FAULT=${point}\nHOODCLOUD_FAULT_FILE=${FAULT_FILE}\nHOODCLOUD_FAULT_AFTER_MS=${afterMs}\n`;
    const forget = MEMORY.map((folder) => `${folder}/*`).join(' ');
    await this.host.sh(`systemctl stop ${AGENT_ON_HOST.unit}; rm -rf ${FAULT_FILE} ${forget}
cat >${AGENT_ON_HOST.environment} <<'END'
${environment}END
systemctl start ${AGENT_ON_HOST.unit}`);
  }

  /** The agent's process when it stands at its point; null when it doesn't. */
  async agentAtPoint(): Promise<number | null> {
    const file = join((await this.view()).root, FAULT_FILE);
    const line = existsSync(file) ? (await readFile(file, 'utf8')).trim() : '';
    return line === '' ? null : Number(line.split(' ').at(-1));
  }

  async signalAgent(signal: 'KILL' | 'CONT', pid: number): Promise<void> {
    await this.host.must('kill', `-${signal}`, String(pid));
  }

  /** Cuts the power and boots without the agent: what the host does by itself can be seen then. */
  async powerCycleWithoutAgent(): Promise<void> {
    await this.host.kill();
    this.#view = null;
    await writeFile(join(this.host.root, AGENT_ON_HOST.off), '');
    await this.host.boot();
  }

  async startAgent(): Promise<void> {
    await rm(join(this.host.root, AGENT_ON_HOST.off), { force: true });
    await this.host.must('systemctl', 'start', AGENT_ON_HOST.unit);
  }

  /** What an operator does who was told that an undo failed. */
  async rollBackByHand(): Promise<string> {
    const { code, stdout, stderr } = await this.host.exec('node', AGENT_ON_HOST.program, 'rollback', '--yes');
    return code === 0 ? 'rolled back by hand' : `by hand: ${stderr}${stdout}`;
  }

  /** The agent has done, by itself, all that it was told: every operation on its disk has a result. */
  async hasSettled(): Promise<boolean> {
    const folder = join((await this.view()).root, MEMORY[0] ?? '');
    const records = (await readdir(folder)).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
    const operations = await Promise.all(
      records.map(async (name) => Object.values(JSON.parse(await readFile(join(folder, name), 'utf8')).operations)),
    );
    const open = (operation: unknown) => (operation as { result: unknown }).result === null;
    return operations.length > 0 && operations.flat().length > 0 && !operations.flat().some(open);
  }

  /** Something keeps the service from starting by itself (A18a). */
  async isHeld(): Promise<boolean> {
    if (this.#adapter !== 'docker') return (await this.leftovers()).some((path) => path.includes('/hold'));
    const engine = await engineOf(this.host);
    const all = await engine.listContainers({ all: true, filters: { name: [`^/${SERVICE.name}`] } });
    const policies = all.map(async ({ Id }) => (await engine.getContainer(Id).inspect()).HostConfig.RestartPolicy);
    // in the middle of a swap none has the name; the engine starts by itself whichever may
    return (await Promise.all(policies)).every((policy) => policy?.Name === 'no');
  }

  /** Milliseconds that each step of the only attempt took. */
  async stepTimes(): Promise<Readonly<Record<string, number>>> {
    const folder = join((await this.view()).root, MEMORY[0] ?? '');
    const [name = ''] = (await readdir(folder)).filter((entry) => entry.endsWith('.json') && !entry.startsWith('.'));
    const { progress } = JSON.parse(await readFile(join(folder, name), 'utf8')) as Recorded;
    return Object.fromEntries(progress.steps.map((step) => [step.name, step.durationMs]));
  }

  /** Seconds since 1970 by the host's clock. */
  async now(): Promise<string> {
    return (Date.now() / 1000).toFixed(6);
  }

  /** How often the service has said in its log that it was asked to stop. */
  async stops(): Promise<number> {
    const said = await readFile(join(this.host.root, SERVICE.log), 'utf8').catch(() => '');
    return said.split('\n').filter((line) => line === SERVICE.askedToStop).length;
  }

  /** Everything that agent, service and systemd told the journal. */
  async logSince(since: string): Promise<string> {
    await this.host.must('journalctl', '--sync');
    const units = ['-u', AGENT_ON_HOST.unit, '-u', SERVICE.unit, '-u', 'docker.service'];
    const told = ['journalctl', '--no-pager', '-q', `--since=@${since}`, '-o', 'short-precise', ...units];
    return `${await readFile(join(this.host.root, SERVICE.log), 'utf8')}\n${await this.host.must(...told)}`;
  }
}

interface Recorded {
  readonly progress: { readonly steps: readonly { readonly name: string; readonly durationMs: number }[] };
}
