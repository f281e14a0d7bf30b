import type Docker from 'dockerode';
import type { ContainerInspect, ImageInspect } from './container-inspect.ts';
import { type EngineError, engineError, hasStatus } from './engine-error.ts';

export const DEFAULT_SOCKET = '/var/run/docker.sock';

/** Milliseconds within which an engine answers anything but a stop or a pull, however busy its host is. */
const ANSWER_MS = 60_000;

/** What the engine shows of a container, as far as the agent looks at it; all else is carried (A14). */
export interface ContainerView extends ContainerInspect {
  /** Id of its image. */
  readonly Image: string;
  readonly State: Docker.ContainerInspectInfo['State'];
  /** Since its last deliberate start. */
  readonly RestartCount: number;
}

export interface ImageView extends ImageInspect {
  readonly Id: string;
  /** `registry/repository@sha256:…` under which it was pulled. */
  readonly RepoDigests: readonly string[] | null;
  readonly Os: string;
  readonly Architecture: string;
}

/** What a call is given to break off by. */
export interface CallOptions {
  readonly abortSignal: AbortSignal;
}

/**
 * One Docker engine (or Podman, which speaks the same API) behind its unix socket. Every failure is an `EngineError` that
 * says what was tried and what to do; nothing waits for ever unless it is told to.
 */
export class Engine {
  readonly socketPath: string;
  #client: Promise<Docker> | undefined;

  constructor(socketPath: string = DEFAULT_SOCKET) {
    this.socketPath = socketPath;
  }

  /**
   * Runs one call.
   * @param what completes "could not …"
   * @param signal ends the call; what the engine has begun by then it may finish
   * @param limitMs null for a call that nobody may cut short
   * @throws EngineError, or the signal's reason
   */
  async call<T>(
    what: string,
    signal: AbortSignal | null,
    work: (docker: Docker, options: CallOptions) => Promise<T>,
    limitMs: number | null = ANSWER_MS,
  ): Promise<T> {
    const limit = limitMs === null ? null : AbortSignal.timeout(limitMs);
    const signals = [signal, limit].filter((given) => given !== null);
    try {
      signal?.throwIfAborted();
      return await work(await this.#docker(), { abortSignal: AbortSignal.any(signals) });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (limit?.aborted) throw this.#silent(what, error);
      throw engineError(error, what, this.socketPath);
    }
  }

  /** The container as the engine shows it now; null when there is none of that name or id. */
  container(nameOrId: string): Promise<ContainerView | null> {
    return orNull(
      this.call(
        `look at the container ${nameOrId}`,
        null,
        async (docker) => (await docker.getContainer(nameOrId).inspect()) as unknown as ContainerView,
      ),
    );
  }

  /** The image as the engine shows it now; null when it isn't here. */
  image(reference: string): Promise<ImageView | null> {
    return orNull(
      this.call(
        `look at the image ${reference}`,
        null,
        async (docker) => (await docker.getImage(reference).inspect()) as unknown as ImageView,
      ),
    );
  }

  /** Loaded when a node needs it: agents without Docker don't pay for it. */
  #docker(): Promise<Docker> {
    // an empty host keeps DOCKER_HOST of the agent's environment from leading elsewhere
    this.#client ??= import('dockerode').then(
      (module) => new module.default({ socketPath: this.socketPath, host: '' }),
    );
    return this.#client;
  }

  #silent(what: string, cause: unknown): EngineError {
    const silence = new Error(`it gave no answer within ${ANSWER_MS / 1000} s`, { cause });
    return engineError(silence, what, this.socketPath);
  }
}

async function orNull<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (hasStatus(error, 404)) return null;
    throw error;
  }
}
