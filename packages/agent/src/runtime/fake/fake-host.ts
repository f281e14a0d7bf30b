import { checksumOf } from '../../host/file-hash.ts';
import type { CommandEnd } from '../../host/run-command.ts';

/** How a fake artifact behaves when it runs. */
export type FakeBehaviour = 'runs' | 'crashes' | 'slow_to_stop';

export interface FakeProcess {
  readonly pid: number;
  readonly startedAt: number;
  readonly checksum: string;
  /** `path=content` of every config it was started with, sorted. */
  readonly configs: string;
}

interface FakeBackup {
  readonly installed: string | null;
  readonly configs: ReadonlyMap<string, string | null>;
  readonly damaged?: boolean;
}

/**
 * A host in memory: what is installed, what runs, what is kept. It outlives the adapter and the executor on it, as a real
 * host outlives a killed agent, and writes down what happened to it.
 */
export class FakeHost {
  installed: string | null;
  readonly configs = new Map<string, string>();
  readonly downloads = new Map<string, string>();
  acquired: string | null = null;
  readonly backups = new Map<string, FakeBackup>();
  readonly behaviours = new Map<string, FakeBehaviour>();
  /** How the next commands of the vendor end, one after the other; then they succeed. */
  readonly commandEnds: Partial<CommandEnd>[] = [];
  held = false;
  wanted = false;
  restarts = 0;
  process: FakeProcess | null = null;
  /** A process that was asked to stop and hasn't ended yet. */
  stopping = false;
  log: string[] = [];
  /** What was done to the service and its files, in order. */
  readonly journal: string[] = [];
  #nextPid = 1000;

  constructor(installed: string | null) {
    this.installed = installed;
  }

  /** Makes an artifact that can be downloaded; returns its checksum. */
  publish(url: string, content: string, behaviour: FakeBehaviour = 'runs'): string {
    const checksum = checksumOf(content);
    this.downloads.set(url, checksum);
    this.behaviours.set(checksum, behaviour);
    return checksum;
  }

  /** As the service manager does it: a start, or a restart after a crash. */
  spawn(): void {
    if (this.process !== null) throw new Error('two live instances');
    if (this.installed === null) throw new Error('nothing is installed');
    const startedAt = this.#nextPid * 7;
    this.process = { pid: this.#nextPid++, startedAt, checksum: this.installed, configs: this.configText() };
    this.stopping = false;
    this.journal.push(`start ${this.installed}`);
    this.log.push(`started ${this.installed}`);
    if (this.behaviours.get(this.installed) === 'crashes') this.crash();
  }

  /** The process ends by itself; the service manager brings it back unless the service is held or not wanted. */
  crash(): void {
    this.log.push('panic: it crashed');
    this.process = null;
    this.restarts++;
    const comesBack = this.wanted && !this.held && this.behaviours.get(this.installed ?? '') !== 'crashes';
    if (comesBack) this.spawn();
  }

  /** Everything that an undo must bring back, as one value to compare. */
  snapshot(): string {
    return `${this.installed} | ${this.configText()}`;
  }

  configText(): string {
    const entries = [...this.configs].sort(([a], [b]) => a.localeCompare(b));
    return entries.map(([path, content]) => `${path}=${content}`).join(', ');
  }
}
