import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf } from '../../agent-error.ts';
import { RuntimeError } from '../runtime-adapter.ts';
import { tellingLine } from '../telling-line.ts';
import { call } from './systemctl.ts';

const TIMEOUT_MS = 20_000;
/** A stack trace of Go fits. */
const TOLD_LINES = 200;

/** The journal of one unit since the agent last started it (A18). */
export class UnitLog {
  readonly #unit: string;
  readonly #mark: string;

  /** @param runDir lost at a reboot, as the meaning of the mark is */
  constructor(unit: string, runDir = '/run/hoodcloud') {
    this.#unit = unit;
    this.#mark = join(runDir, `${unit}.started`);
  }

  /** Remembers that the unit is about to be started; an agent that is started again still knows it. */
  async markStart(): Promise<void> {
    await mkdir(dirname(this.#mark), { recursive: true, mode: 0o755 });
    await writeFile(this.#mark, '');
  }

  /**
   * Last lines since the latest start, of the program and of systemd about it, oldest first. A unit that the agent has
   * not started in this boot gives the lines of its current run.
   * @throws RuntimeError `journal_unreadable`
   */
  async tail(maxLines: number, invocationId: string): Promise<string[]> {
    const since = await this.#since();
    const current = invocationId === '' ? [] : [`_SYSTEMD_INVOCATION_ID=${invocationId}`];
    return this.#read(maxLines, since === null ? current : ['--unit', this.#unit, `--since=@${since}`]);
  }

  /** The line by which the program itself said why it ended, since the latest start; undefined when it wrote none. */
  async tellingLine(): Promise<string | undefined> {
    const since = await this.#since();
    if (since === null) return undefined;
    return tellingLine(await this.#read(TOLD_LINES, [`--since=@${since}`, `_SYSTEMD_UNIT=${this.#unit}`]));
  }

  async #read(maxLines: number, filter: readonly string[]): Promise<string[]> {
    await call('journalctl', ['--sync'], AbortSignal.timeout(TIMEOUT_MS)); // a program that just died may have lines on the way
    const options = ['--no-pager', '--quiet', '--boot', '--output=cat', `--lines=${maxLines}`];
    const called = await call('journalctl', [...options, ...filter], AbortSignal.timeout(TIMEOUT_MS));
    if (called.code !== 0) {
      const sentence = `the journal of ${this.#unit} cannot be read: ${called.stderr.trim()}`;
      throw new RuntimeError('journal_unreadable', sentence);
    }
    return called.stdout.split('\n').filter((line) => line !== '');
  }

  /** Seconds since 1970, down to the microsecond. */
  async #since(): Promise<string | null> {
    try {
      const { mtimeNs } = await stat(this.#mark, { bigint: true });
      return `${mtimeNs / 1_000_000_000n}.${String((mtimeNs / 1000n) % 1_000_000n).padStart(6, '0')}`;
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return null;
      throw error;
    }
  }
}
