import { setTimeout as sleep } from 'node:timers/promises';
import { removeDurably, replaceFile } from '../../host/atomic-file.ts';
import { readTextIfThere } from '../../host/read-if-there.ts';
import { RuntimeError } from '../runtime-adapter.ts';
import type { Systemctl } from './systemctl.ts';
import type { UnitSettings } from './unit-settings.ts';

const POLL_MS = 100;
const RUNS = ['active', 'activating', 'reloading'];

/** What ran around the unit before it was stopped, each by its unit's name. */
interface Around {
  /** Path, timer and socket units that start it: held back too often, they end as failed (`trigger-limit-hit`). */
  readonly triggers: readonly string[];
  /** Units that systemd stops with it (`Requires=`, `BindsTo=`, `PartOf=`, …), those of theirs included. */
  readonly dependents: readonly string[];
}

const NOTHING: Around = { triggers: [], dependents: [] };

/**
 * Brings back what an upgrade stops beside the unit itself. What ran is remembered on the disk before the stop and
 * forgotten when it runs again, so that a crash in between, or an undo, loses nothing of it.
 */
export class UnitNeighbours {
  readonly #unit: string;
  readonly #systemctl: Systemctl;
  readonly #path: string;

  /** @param path where they are remembered; its folder exists */
  constructor(unit: string, systemctl: Systemctl, path: string) {
    this.#unit = unit;
    this.#systemctl = systemctl;
    this.#path = path;
  }

  /** Remembers what runs now; what an earlier stop of the same change remembered stays. On the disk when it resolves. */
  async remember({ triggeredBy, stoppedWithIt }: UnitSettings): Promise<void> {
    if (triggeredBy.length === 0 && stoppedWithIt.length === 0) return;
    const triggers = (await this.#systemctl.settings(triggeredBy)).filter(isUp).map(({ id }) => id);
    const dependents = (await this.#withTheirOwn(stoppedWithIt)).filter(isUp).map(({ id }) => id);
    const before = await this.#remembered();
    const around: Around = {
      triggers: [...new Set([...before.triggers, ...triggers])],
      dependents: [...new Set([...before.dependents, ...dependents])],
    };
    if (around.triggers.length + around.dependents.length === 0) return;
    await replaceFile(this.#path, `${JSON.stringify(around)}\n`);
  }

  /** A socket can only be opened again while its service is down. */
  async openSockets(): Promise<void> {
    const { triggers } = await this.#remembered();
    await this.#startAll(triggers.filter((name) => name.endsWith('.socket')));
  }

  /** Starts all that ran before and waits until it does; one that is held back by a condition is somebody else's matter. */
  async bringBack(signal: AbortSignal): Promise<void> {
    const { triggers, dependents } = await this.#remembered();
    const all = [...triggers, ...dependents];
    if (all.length === 0) return;
    await this.#startAll(all);
    for (;;) {
      const units = await this.#systemctl.settings(all);
      const missing = units.filter((unit) => !isSettled(unit));
      const failed = missing.find(
        ({ activeState, jobQueued }) => ['failed', 'inactive'].includes(activeState) && !jobQueued,
      );
      if (failed !== undefined) throw this.#notBack(failed.id, failed.activeState);
      if (missing[0] === undefined) return this.forget();
      if (signal.aborted) throw this.#notBack(missing[0].id, missing[0].activeState);
      await sleep(POLL_MS);
    }
  }

  async forget(): Promise<void> {
    if ((await readTextIfThere(this.#path)) !== null) await removeDurably(this.#path);
  }

  async #startAll(names: readonly string[]): Promise<void> {
    for (const { id, activeState } of await this.#systemctl.settings(names)) {
      if (RUNS.includes(activeState)) continue;
      const patience = AbortSignal.timeout(60_000);
      if (activeState === 'failed') await this.#systemctl.run('reset-failed', id, patience);
      // a target would start all that it wants, also what an operator has stopped
      const options = id.endsWith('.target') ? ['--job-mode=ignore-dependencies'] : [];
      const refused = await this.#systemctl.orderStart(id, patience, ...options);
      if (refused !== '') throw this.#notBack(id, refused);
    }
  }

  async #withTheirOwn(names: readonly string[]): Promise<UnitSettings[]> {
    const found = new Map<string, UnitSettings>();
    let open = [...names];
    while (open.length > 0) {
      const level = await this.#systemctl.settings(open);
      for (const unit of level) found.set(unit.id, unit);
      open = [...new Set(level.flatMap(({ stoppedWithIt }) => stoppedWithIt))].filter(
        (name) => !found.has(name) && name !== this.#unit,
      );
    }
    return [...found.values()];
  }

  async #remembered(): Promise<Around> {
    const text = await readTextIfThere(this.#path);
    return { ...NOTHING, ...(text === null ? null : parsed(text)) };
  }

  #notBack(name: string, why: string): RuntimeError {
    return new RuntimeError(
      'neighbour_not_started',
      `${this.#unit} runs, but ${name}, which ran beside it before the stop, did not come back: ${why}; see \`systemctl status ${name}\``,
    );
  }
}

/** What cannot be read must not keep the unit itself from starting. */
function parsed(text: string): Partial<Around> {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return NOTHING;
    throw error;
  }
}

function isUp({ activeState }: UnitSettings): boolean {
  return RUNS.includes(activeState);
}

function isSettled({ activeState, conditionMet, loadState, jobQueued }: UnitSettings): boolean {
  if (activeState === 'active' || loadState !== 'loaded') return true;
  return activeState === 'inactive' && !jobQueued && !conditionMet;
}
