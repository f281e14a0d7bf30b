import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeFolderIfEmpty, replaceFile } from '../../host/atomic-file.ts';
import { RuntimeError } from '../runtime-adapter.ts';
import type { ManagerScope } from './manager-scope.ts';
import type { Systemctl } from './systemctl.ts';
import type { UnitView } from './unit-properties.ts';
import type { UnitSettings } from './unit-settings.ts';

/** Sorts after every drop-in that an operator may have, whose settings would win otherwise. */
const DROP_IN = 'zzzz-hoodcloud-stop.conf';
const CONTENT = `# Written by hoodcloud-agent from a stop to the next good start: nothing kills a node that still flushes (A7), and a
# release that fails, or a stop that succeeds, acts on this unit alone.
[Unit]
JobTimeoutSec=infinity
JobRunningTimeoutSec=infinity
SuccessAction=none
FailureAction=none
StartLimitAction=none

[Service]
TimeoutStopSec=infinity
SendSIGKILL=no
`;

/**
 * A runtime drop-in without which systemd would end a stop by force: SIGKILL after `TimeoutStopSec=` and, under
 * `KillMode=mixed`, to every process that outlives the main one; a time-out of the job; an action that reboots the host.
 * `WatchdogSec=` and `RuntimeMaxSec=` are let be: systemd applies neither while a unit stops.
 */
export class StopGuard {
  readonly #unit: string;
  readonly #systemctl: Systemctl;
  readonly #path: string;

  constructor(unit: string, systemctl: Systemctl) {
    this.#unit = unit;
    this.#systemctl = systemctl;
    this.#path = stopGuardPath(unit, systemctl.scope);
  }

  /**
   * Makes sure that nothing ends the coming stop by force; costs nothing when nothing would.
   * @param settings of the unit as it is now
   * @throws RuntimeError `stop_not_safe` when systemd would do it all the same
   */
  async raise(settings: UnitSettings): Promise<void> {
    if (forcedBy(settings).length === 0) return;
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o755 });
    await replaceFile(this.#path, CONTENT);
    await this.#systemctl.daemonReload();
    const [now] = await this.#systemctl.settings([this.#unit]);
    const left = now === undefined ? [] : forcedBy(now);
    if (left.length === 0) return;
    throw new RuntimeError(
      'stop_not_safe',
      `systemd would end a stop of ${this.#unit} by force (${left.join(', ')}), whatever ${this.#path} says: look for another drop-in with these settings`,
    );
  }

  /**
   * Gives the unit its own settings back.
   * @param seen the unit as it is, when that is known: systemd still has what it read last
   */
  async lower(seen?: UnitView): Promise<void> {
    await rm(this.#path, { force: true });
    await removeFolderIfEmpty(dirname(this.#path));
    const { files } = seen ?? (await this.#systemctl.show(this.#unit));
    if (files.includes(this.#path)) await this.#systemctl.daemonReload();
  }
}

/** Where the drop-in of a unit's guard lies while it is up. */
export function stopGuardPath(unit: string, { runtimeFolder }: ManagerScope): string {
  return join(runtimeFolder, `${unit}.d`, DROP_IN);
}

/** The settings by which a stop of the unit could end by force. */
function forcedBy({ stopTimeout, killMode, sendsSigkill, drastic }: UnitSettings): string[] {
  return [
    ...(stopTimeout === 'infinity' ? [] : [`TimeoutStopSec=${stopTimeout}`]),
    ...(killMode === 'mixed' && sendsSigkill ? ['KillMode=mixed with SendSIGKILL=yes'] : []),
    ...drastic,
  ];
}
