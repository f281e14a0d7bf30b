import type { ProcessIdentity } from '../../host/process-table.ts';
import { RuntimeError, type RuntimeStatus } from '../runtime-adapter.ts';
import type { Systemctl } from './systemctl.ts';
import { processesOf } from './unit-processes.ts';
import { type UnitView, unitState } from './unit-properties.ts';
import type { UnitSettings } from './unit-settings.ts';

/** A unit and the processes of its control group at one moment. */
export interface Look {
  readonly view: UnitView;
  readonly processes: readonly ProcessIdentity[];
  readonly state: RuntimeStatus['state'];
}

/** Looks at one unit, and says in words when it can't be managed at all. */
export class UnitLooks {
  readonly unit: string;
  readonly #systemctl: Systemctl;
  readonly #childrenStay: boolean;

  /** @param childrenStay only the main process counts as the unit's */
  constructor(unit: string, systemctl: Systemctl, childrenStay = false) {
    this.unit = unit;
    this.#childrenStay = childrenStay;
    this.#systemctl = systemctl;
  }

  /** @throws RuntimeError `unit_not_loaded` | `systemd_unreachable` */
  async look(): Promise<Look> {
    return this.#lookOf(await this.#systemctl.show(this.unit));
  }

  /** A look, and how the unit is set up. @throws RuntimeError `unit_not_loaded` | `systemd_unreachable` */
  async lookAtSettings(): Promise<{ found: Look; settings: UnitSettings }> {
    const { view, settings } = await this.#systemctl.showWhole(this.unit);
    return { found: await this.#lookOf(view), settings };
  }

  async #lookOf(view: UnitView): Promise<Look> {
    if (view.loadState !== 'loaded') throw this.#notLoaded(view.loadState);
    const processes = await this.processesOf(view.controlGroup, view.mainPid);
    return { view, processes, state: unitState(view, processes.length) };
  }

  async processesOf(controlGroup: string, mainPid: number | null): Promise<ProcessIdentity[]> {
    const all = await processesOf(controlGroup, mainPid);
    return this.#childrenStay ? all.filter(({ pid }) => pid === mainPid) : all;
  }

  async settings(): Promise<UnitSettings> {
    const [settings] = await this.#systemctl.settings([this.unit]);
    if (settings === undefined) throw this.#notLoaded('nothing about it');
    return settings;
  }

  #notLoaded(loadState: string): RuntimeError {
    const why: Record<string, string> = { 'not-found': 'there is no such unit', masked: 'the unit is masked' };
    const sentence = `${this.unit} cannot be managed: ${why[loadState] ?? `systemd says ${loadState}`}. Check the unit in the agent's configuration.`;
    return new RuntimeError('unit_not_loaded', sentence);
  }
}
