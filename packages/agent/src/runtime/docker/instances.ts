import type { ContainerView, Engine } from './engine.ts';

/** Every label of ours begins so. */
export const LABEL_PREFIX = 'io.hoodcloud.';
/** The attempt that made the container. */
export const ATTEMPT_LABEL = `${LABEL_PREFIX}attempt`;
/** Name under which the container serves, whatever it is called in the middle of a swap. */
export const SERVICE_LABEL = `${LABEL_PREFIX}service`;

/**
 * All containers of one service: the one that has its name, and those that the agent's swaps leave until they are
 * confirmed: `{name}.bak` the old one, `{name}.new` one that is not finished. Told by name and by label.
 */
export class Instances {
  readonly name: string;
  readonly #engine: Engine;

  constructor(name: string, engine: Engine) {
    this.name = name;
    this.#engine = engine;
  }

  get unfinishedName(): string {
    return `${this.name}.new`;
  }

  /** `{name}.bak`; where that is taken by an earlier attempt's, `{name}.bak-2` and so on. */
  backupName(number: number): string {
    return number === 1 ? `${this.name}.bak` : `${this.name}.bak-${number}`;
  }

  /** Whether a swap of ours gives such a name to what it leaves. */
  isLeftOverName(name: string): boolean {
    const backup = this.backupName(1);
    const isNumbered = name.startsWith(`${backup}-`) && /^\d+$/.test(name.slice(backup.length + 1));
    return name === this.unfinishedName || name === backup || isNumbered;
  }

  /** The service's other containers, as the engine shows them now. */
  async besides(id: string | null): Promise<ContainerView[]> {
    const all = await this.#engine.call('list the containers', null, (docker) => docker.listContainers({ all: true }));
    const others = all.filter(({ Id, Names, Labels }) => {
      const name = (Names[0] ?? '').slice(1);
      const ours = Labels[SERVICE_LABEL] === this.name || this.isLeftOverName(name);
      return Id !== id && name !== this.name && ours;
    });
    const views = await Promise.all(others.map(({ Id }) => this.#engine.container(Id)));
    return views.filter((view) => view !== null);
  }
}

/** The name that people see, without the engine's slash. */
export function nameOf({ Name }: ContainerView): string {
  return Name.replace(/^\//, '');
}

/** Whether an attempt of this service's agent made the container. */
export function madeFor({ Config }: ContainerView, service: string): boolean {
  return Config.Labels?.[SERVICE_LABEL] === service;
}

/** The attempt that made the container; null when an operator did. */
export function attemptOf({ Config }: ContainerView): string | null {
  return Config.Labels?.[ATTEMPT_LABEL] ?? null;
}
