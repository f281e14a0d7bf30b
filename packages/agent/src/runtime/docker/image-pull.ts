import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentErrorCode } from '@hoodcloud/domain/failure-class';
import { AgentError } from '../../agent-error.ts';
import { type AcquireOptions, RuntimeError } from '../runtime-adapter.ts';
import type { Engine } from './engine.ts';
import { EngineError, saidBy } from './engine-error.ts';
import type { PinnedImage } from './image-reference.ts';
import type { RegistryCredentials } from './registry-credentials.ts';

/** Milliseconds. */
export interface PullBackoff {
  readonly firstMs: number;
  readonly capMs: number;
  /** The least that is waited after "too many requests": the engine keeps the registry's Retry-After to itself. */
  readonly tooManyMs: number;
  readonly tries: number;
}

export const DEFAULT_PULL_BACKOFF: PullBackoff = { firstMs: 500, capMs: 30_000, tooManyMs: 30_000, tries: 8 };

interface Pull {
  readonly engine: Engine;
  readonly image: PinnedImage;
  readonly credentials: RegistryCredentials | null;
  readonly backoff: PullBackoff;
  readonly options: Pick<AcquireOptions, 'signal' | 'onProgress'>;
}

/** One line of the engine's report on a pull. */
interface PullLine {
  readonly id?: string;
  readonly status?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
  readonly error?: string;
}

/** What the registry said for good, and what it means to the operator (field-cases 22 and 36). */
const FOR_GOOD: readonly (readonly [RegExp, code: AgentErrorCode, sentence: string])[] = [
  [/no matching manifest/i, 'wrong_platform', "the image isn't built for this host's platform"],
  [/manifest unknown|not found|name unknown/i, 'image_unknown', 'the registry has no such image: correct the digest'],
  [
    /unauthorized|denied|no basic auth|forbidden|authentication required/i,
    'registry_refused',
    'the registry wants credentials: log in with docker login on this host, as the user of the agent',
  ],
  [/no space left/i, 'disk_full', "the engine's disk is full: free some space and try again"],
  [
    /invalid reference|x509|certificate/i,
    'registry_refused',
    'correct the name of the image or the certificate of its registry',
  ],
];
const TOO_MANY = /toomanyrequests|too many requests|rate limit|\b429\b/i;

/**
 * Pulls an image by its digest; the layers that are here already are not fetched again. Trouble of the network or of the
 * registry is tried again with capped back-off, what no repetition cures fails at once.
 * @throws RuntimeError `image_unknown` | `registry_refused` | `wrong_platform` | `disk_full` | `download_failed`
 */
export async function pullImage(pull: Pull): Promise<void> {
  const { image, backoff, options } = pull;
  const name = `${image.repository}@${image.digest}`;
  for (let tried = 1; ; tried++) {
    try {
      return await pullOnce(pull);
    } catch (error) {
      if (options.signal.aborted) throw failed(name, 'its time was up', error);
      if (error instanceof EngineError && error.status === null) throw error; // the engine itself is away
      if (error instanceof AgentError && !(error instanceof EngineError)) throw error;
      const said = saidBy(error);
      const final = FOR_GOOD.find(([pattern]) => pattern.test(said) && !TOO_MANY.test(said));
      if (final !== undefined)
        throw new RuntimeError(final[1], `${name} can't be pulled: ${final[2]} (${said})`, { cause: error });
      if (tried >= backoff.tries) throw failed(name, `${tried} tries failed`, error);
      await pause(waitBeforeTry(tried, said, backoff), name, options.signal, error);
    }
  }
}

async function pullOnce({ engine, image, credentials, options }: Pull): Promise<void> {
  const progress = new PullProgress(options.onProgress);
  await engine.call(
    `pull ${image.repository}@${image.digest}`,
    options.signal,
    async (docker, { abortSignal }) => {
      const wanted = { fromImage: image.repository, tag: image.digest, abortSignal };
      const answer = await docker.createImage(credentials ?? {}, wanted);
      answer.once('error', () => undefined); // an abort ends the reading below with its own error
      for await (const line of linesOf(answer)) {
        // the answer is 200 by then: a failure in the middle stands in a line of its own
        if (line.error !== undefined) throw Object.assign(new Error(line.error), { statusCode: 500 });
        progress.take(line);
      }
    },
    null,
  );
}

async function* linesOf(stream: AsyncIterable<string | Buffer>): AsyncGenerator<PullLine> {
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + chunk.toString()).split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield JSON.parse(line) as PullLine;
  }
  if (rest.trim() !== '') yield JSON.parse(rest) as PullLine;
}

/** Adds the layers up: each tells its own bytes, and its size only once it has begun. */
class PullProgress {
  readonly #layers = new Map<string, { current: number; total: number | null }>();
  readonly #tell: AcquireOptions['onProgress'];

  constructor(tell: AcquireOptions['onProgress']) {
    this.#tell = tell;
  }

  take({ id, status, progressDetail }: PullLine): void {
    if (id === undefined) return;
    const known = this.#layers.get(id);
    switch (status) {
      case 'Pulling fs layer':
      case 'Waiting':
        this.#layers.set(id, known ?? { current: 0, total: null });
        return;
      case 'Downloading': {
        const { current = known?.current ?? 0, total = known?.total ?? null } = progressDetail ?? {};
        this.#layers.set(id, { current, total });
        break;
      }
      case 'Download complete': {
        const whole = known?.total ?? known?.current ?? 0;
        this.#layers.set(id, { current: whole, total: whole });
        break;
      }
      default:
        return;
    }
    const layers = [...this.#layers.values()];
    const totals = layers.map(({ total }) => total);
    this.#tell({
      receivedBytes: layers.reduce((sum, { current }) => sum + current, 0),
      totalBytes: totals.includes(null) ? null : totals.reduce<number>((sum, total) => sum + (total ?? 0), 0),
    });
  }
}

/** Capped and doubled, with jitter above the half; never sooner than a registry that is overrun may ask for. */
function waitBeforeTry(tried: number, said: string, { firstMs, capMs, tooManyMs }: PullBackoff): number {
  const ceiling = Math.min(capMs, firstMs * 2 ** (tried - 1));
  const own = ceiling / 2 + Math.random() * (ceiling / 2);
  return TOO_MANY.test(said) ? Math.max(tooManyMs, own) : own;
}

async function pause(ms: number, name: string, signal: AbortSignal, last: unknown): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch {
    throw failed(name, 'its time was up', last); // the only way a timer fails is the signal
  }
}

function failed(name: string, why: string, last: unknown): RuntimeError {
  const sentence = `${name} could not be pulled, ${why}; the last trouble: ${saidBy(last)}`;
  return new RuntimeError('download_failed', sentence, { cause: last });
}
