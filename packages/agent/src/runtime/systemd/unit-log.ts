import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf } from '../../agent-error.ts';
import { RuntimeError } from '../runtime-adapter.ts';
import { tellingLine } from '../telling-line.ts';
import type { ManagerScope } from './manager-scope.ts';
import { call } from './systemctl.ts';

const TIMEOUT_MS = 20_000;
/** A stack trace of Go fits. */
const TOLD_LINES = 200;

/** The journal of one unit since the agent last started it (A18). */
export class UnitLog {
  readonly #unit: string;
  readonly #mark: string;
  readonly #scope: ManagerScope;

  constructor(unit: string, scope: ManagerScope) {
    this.#unit = unit;
    this.#scope = scope;
    this.#mark = join(scope.bootDir, `${unit}.started`); // lost at a reboot, as its meaning is
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
    if (since !== null) return this.#read(maxLines, [`--since=@${since}`, ...this.#ofUnit(true)]);
    const { user } = this.#scope;
    const field = user === null ? '_SYSTEMD_INVOCATION_ID' : 'USER_INVOCATION_ID';
    return this.#read(maxLines, invocationId === '' ? [] : [`${field}=${invocationId}`]);
  }

  /** The line by which the program itself said why it ended, since the latest start; undefined when it wrote none. */
  async tellingLine(): Promise<string | undefined> {
    const since = await this.#since();
    if (since === null) return undefined;
    return tellingLine(await this.#read(TOLD_LINES, [`--since=@${since}`, ...this.#ofUnit(false)]));
  }

  /** What the unit's processes wrote and, when wanted, what systemd wrote about it. */
  #ofUnit(managerToo: boolean): string[] {
    const { user } = this.#scope;
    const unit = this.#unit;
    if (user === null) return managerToo ? ['--unit', unit] : [`_SYSTEMD_UNIT=${unit}`];
    const own = [`_SYSTEMD_USER_UNIT=${unit}`, `_UID=${user.uid}`];
    return managerToo ? [...own, '+', `USER_UNIT=${unit}`, `_UID=${user.uid}`] : own;
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
