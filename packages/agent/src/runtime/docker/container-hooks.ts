import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandEnd } from '../../host/run-command.ts';
import type { HookCall, HookRunner } from '../hook-contract.ts';
import { requireAllowed, withPlaces } from '../hook-runner.ts';
import { RuntimeError } from '../runtime-adapter.ts';
import { containerLog } from './container-log.ts';
import type { ContainerView, Engine } from './engine.ts';
import { EngineError, hasStatus } from './engine-error.ts';
import { HOOK_LABEL, stepContainer } from './step-container.ts';

const POLL_MS = 250;
/** What is kept of a step's words, the end of them; as of a process. */
const KEPT_LINES = 5_000;
const KEPT_CHARACTERS = 64 * 1024;
/** Exit status of a program that could not be run, as shells have it. */
const NOT_RUN = 127;

export interface ContainerHookSettings {
  /** Name of the node's container. */
  readonly container: string;
  /** The node's data folder on the host; null: unknown. */
  readonly dataDir: string | null;
  /** Programs inside the image, beside the container's own, that the host's operator lets steps of the vendor run. */
  readonly hookPrograms: readonly string[];
}

/**
 * Runs steps of the vendor in a container of their own that is made like the node's: its image (before the stop the old
 * one, after the install the new one), user, environment, mounts, rights and limits, and its network. It is removed
 * whatever becomes of it; one that a dead agent left is found again by its name and label.
 */
export class ContainerHooks implements HookRunner {
  readonly #settings: ContainerHookSettings;
  readonly #engine: Engine;

  constructor(settings: ContainerHookSettings, engine: Engine) {
    this.#settings = settings;
    this.#engine = engine;
  }

  check(command: readonly string[]): void {
    requireAllowed(command, { ...this.#settings, installPath: '', dataDir: '' });
  }

  async run({ name, command, timeoutMs }: HookCall, signal: AbortSignal): Promise<CommandEnd> {
    await this.end(name);
    const id = await this.#make(name, command);
    try {
      return await this.#watch(id, timeoutMs, signal);
    } finally {
      await this.end(name);
    }
  }

  async end(name: string): Promise<void> {
    const stepName = this.#stepName(name);
    const left = await this.#engine.container(stepName);
    if (left === null || left.Config.Labels?.[HOOK_LABEL] !== this.#settings.container) return;
    try {
      await this.#engine.call(`remove the container ${stepName}`, null, (docker) =>
        docker.getContainer(left.Id).remove({ force: true, v: true }),
      );
    } catch (error) {
      if (!hasStatus(error, 404)) throw error; // it has gone meanwhile
    }
  }

  /** @returns its id */
  async #make(name: string, command: readonly string[]): Promise<string> {
    const { container, dataDir, hookPrograms } = this.#settings;
    const node = await this.#engine.container(container);
    const image = node === null ? null : await this.#engine.image(node.Image);
    if (node === null || image === null) {
      throw new RuntimeError(
        'container_not_found',
        `there is no container ${container} whose step ${name} could be run`,
      );
    }
    const inside = command.some((word) => word.includes('{data_dir}')) ? insideOf(node, dataDir) : '';
    const places = { installPath: String(node.Path ?? ''), dataDir: inside, hookPrograms };
    const stepName = this.#stepName(name);
    const create = stepContainer({ node, image, name: stepName, command: withPlaces(command, places) });
    const made = await this.#engine.call(`make the container ${stepName}`, null, (docker) =>
      docker.createContainer(create),
    );
    return made.id;
  }

  /** Starts it and waits for its end, of its own accord or by us. */
  async #watch(id: string, timeoutMs: number, signal: AbortSignal): Promise<CommandEnd> {
    try {
      await this.#engine.call('start a step of the vendor', null, (docker) => docker.getContainer(id).start());
    } catch (error) {
      if (!(error instanceof EngineError) || error.status === null) throw error;
      return { code: NOT_RUN, killedBy: null, timedOut: false, output: error.said };
    }
    const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    let view = await this.#engine.container(id);
    while (view?.State.Running && !until.aborted) {
      await sleep(POLL_MS);
      view = await this.#engine.container(id);
    }
    const timedOut = view?.State.Running === true;
    if (timedOut) await this.#kill(id);
    const lines = await containerLog(this.#engine, { id, tty: false }, KEPT_LINES, null);
    const said = lines.map((line) => `${line}\n`).join('');
    const output = (view?.State.OOMKilled ? `${said}it had no memory left\n` : said).slice(-KEPT_CHARACTERS);
    return {
      code: timedOut ? null : (view?.State.ExitCode ?? null),
      killedBy: timedOut ? 'SIGKILL' : null,
      timedOut,
      output,
    };
  }

  async #kill(id: string): Promise<void> {
    try {
      await this.#engine.call('end a step of the vendor', null, (docker) => docker.getContainer(id).kill());
    } catch (error) {
      if (!hasStatus(error, 409)) throw error; // it has ended meanwhile
    }
  }

  #stepName(name: string): string {
    return `${this.#settings.container}.hook-${name}`;
  }
}

/** Where the node's data folder is inside its container. */
function insideOf(node: ContainerView, dataDir: string | null): string {
  const found = node.Mounts.find(
    ({ Source }) => dataDir !== null && (dataDir === Source || dataDir.startsWith(`${Source}/`)),
  );
  if (dataDir !== null && found !== undefined) return `${found.Destination}${dataDir.slice(found.Source.length)}`;
  throw new RuntimeError(
    'hook_not_allowed',
    `the vendor's step names {data_dir}, and no mount of the container leads to data_dir of the agent's configuration (${dataDir}): correct it, or name the folder as the container sees it`,
  );
}
