import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Engine } from './engine.ts';
import { engineError } from './engine-error.ts';
import { type PullBackoff, pullImage } from './image-pull.ts';

const IMAGE = { repository: 'registry.example/node', digest: `sha256:${'a'.repeat(64)}` };
const BACKOFF: PullBackoff = { firstMs: 1, capMs: 2, tooManyMs: 300, tries: 4 };

/** An engine that answers pulls one after the other as told: lines of its report, or what it refuses with. */
class ToldEngine extends Engine {
  readonly pullsAt: number[] = [];
  readonly #answers: (readonly object[] | Error)[];

  constructor(...answers: (readonly object[] | Error)[]) {
    super('/nowhere.sock');
    this.#answers = answers;
  }

  override async call<T>(...[what, signal, work]: Parameters<Engine['call']>): Promise<T> {
    this.pullsAt.push(performance.now());
    const answer = this.#answers.shift() ?? [];
    const createImage = async () => {
      if (answer instanceof Error) throw answer;
      return Readable.from(answer.map((line) => `${JSON.stringify(line)}\r\n`));
    };
    const options = { abortSignal: signal ?? new AbortController().signal };
    try {
      return (await work({ createImage } as never, options)) as T;
    } catch (error) {
      throw engineError(error, what, this.socketPath);
    }
  }
}

function refused(message: string): Error {
  return Object.assign(new Error(`(HTTP code 500) server error - ${message} `), { statusCode: 500, json: null });
}

function pull(engine: ToldEngine, signal = AbortSignal.timeout(30_000)) {
  const seen: { receivedBytes: number; totalBytes: number | null }[] = [];
  const options = { signal, onProgress: (progress: (typeof seen)[number]) => seen.push(progress) };
  return { seen, done: pullImage({ engine, image: IMAGE, credentials: null, backoff: BACKOFF, options }) };
}

it('adds the bytes of all layers up, and tells a total only once every layer has told its size', async () => {
  const { seen, done } = pull(
    new ToldEngine([
      { status: 'Pulling fs layer', id: 'a' },
      { status: 'Pulling fs layer', id: 'b' },
      { status: 'Downloading', id: 'a', progressDetail: { current: 10, total: 100 } },
      { status: 'Downloading', id: 'b', progressDetail: { current: 5, total: 50 } },
      { status: 'Download complete', id: 'a' },
      { status: 'Downloading', id: 'b', progressDetail: { current: 50, total: 50 } },
    ]),
  );
  await done;
  expect(seen).toEqual([
    { receivedBytes: 10, totalBytes: null },
    { receivedBytes: 15, totalBytes: 150 },
    { receivedBytes: 105, totalBytes: 150 },
    { receivedBytes: 150, totalBytes: 150 },
  ]);
});

describe('what no repetition cures fails at once (field-case 22)', () => {
  it.each([
    ['manifest for x not found: manifest unknown: manifest unknown', 'image_unknown'],
    ['pull access denied for x, repository does not exist', 'registry_refused'],
    ['Get https://x/v2/: unauthorized: authentication required', 'registry_refused'],
    ['no matching manifest for linux/arm64/v8 in the manifest list entries', 'wrong_platform'],
    ['write /var/lib/docker/tmp/x: no space left on device', 'disk_full'],
    ['x509: certificate signed by unknown authority', 'registry_refused'],
  ])('%s', async (said, code) => {
    const engine = new ToldEngine(refused(said));
    await expect(pull(engine).done).rejects.toMatchObject({ code, message: expect.stringContaining(`(${said})`) });
    expect(engine.pullsAt).toHaveLength(1);
  });
});

it('trouble of the network is tried again, also when it comes after the answer has begun', async () => {
  const broken = [{ status: 'Pulling fs layer', id: 'a' }, { error: 'unexpected EOF' }];
  const engine = new ToldEngine(refused('dial tcp: connection refused'), broken, []);
  await pull(engine).done;
  expect(engine.pullsAt).toHaveLength(3);
});

it('is given up after its tries, with the last trouble', async () => {
  const engine = new ToldEngine(...Array.from({ length: 9 }, () => refused('i/o timeout')));
  await expect(pull(engine).done).rejects.toMatchObject({
    code: 'download_failed',
    message: expect.stringMatching(/4 tries failed; the last trouble: i\/o timeout$/),
  });
});

it('a registry that is overrun is asked again only after its pause (field-case 36)', async () => {
  const engine = new ToldEngine(refused('toomanyrequests: You have reached your pull rate limit'), []);
  await pull(engine).done;
  expect((engine.pullsAt[1] ?? 0) - (engine.pullsAt[0] ?? 0)).toBeGreaterThanOrEqual(299);
});

it('ends when its time is up, with the trouble it had', async () => {
  const engine = new ToldEngine(...Array.from({ length: 9 }, () => refused('toomanyrequests: slow down')));
  await expect(pull(engine, AbortSignal.timeout(50)).done).rejects.toMatchObject({
    code: 'download_failed',
    message: expect.stringContaining('its time was up; the last trouble: toomanyrequests: slow down'),
  });
});
