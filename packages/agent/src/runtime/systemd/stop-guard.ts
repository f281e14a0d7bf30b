import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeFolderIfEmpty, replaceFile } from '../../host/atomic-file.ts';
import { RuntimeError } from '../runtime-adapter.ts';
import type { Systemctl } from './systemctl.ts';

/** Sorts after every drop-in that an operator may have, whose `TimeoutStopSec=` would win otherwise. */
const DROP_IN = 'zzzz-hoodcloud-stop.conf';
const CONTENT =
  '# Written by hoodcloud-agent for the time of a stop: nothing kills a node that still flushes (A7).\n[Service]\nTimeoutStopSec=infinity\n';

/** A runtime drop-in without which systemd would kill a unit that takes longer than its `TimeoutStopSec=` to stop (A7). */
export class StopGuard {
  readonly #unit: string;
  readonly #systemctl: Systemctl;
  readonly #path: string;

  constructor(unit: string, systemctl: Systemctl, runtimeDir = '/run/systemd/system') {
    this.#unit = unit;
    this.#systemctl = systemctl;
    this.#path = join(runtimeDir, `${unit}.d`, DROP_IN);
  }

  /**
   * Makes sure that the coming stop has no end; costs nothing when it has none already.
   * @throws RuntimeError `stop_not_safe` when systemd would kill the unit all the same
   */
  async raise(): Promise<void> {
    if ((await this.#stopTimeout()) === 'infinity') return;
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o755 });
    await replaceFile(this.#path, CONTENT);
    await this.#systemctl.daemonReload();
    const timeout = await this.#stopTimeout();
    if (timeout === 'infinity') return;
    throw new RuntimeError(
      'stop_not_safe',
      `systemd would kill ${this.#unit} ${timeout} after the stop, whatever ${this.#path} says: look for another drop-in with TimeoutStopSec=`,
    );
  }

  /** Gives the unit its own time-out back. */
  async lower(): Promise<void> {
    await rm(this.#path, { force: true });
    await removeFolderIfEmpty(dirname(this.#path));
    const { files } = await this.#systemctl.show(this.#unit);
    if (files.includes(this.#path)) await this.#systemctl.daemonReload();
  }

  async #stopTimeout(): Promise<string> {
    return (await this.#systemctl.show(this.#unit)).stopTimeout;
  }
}
