import { type ServerSentEvent, serverSentEvents } from '@hoodcloud/contracts/http/event-stream';
import type { FieldError, Problem } from '@hoodcloud/contracts/http/problem';

const TIMEOUT_MS = 30_000;

/** Query values; undefined, null and empty ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** The control plane refused, or can't be reached (`status` 0); the message is the sentence people read. */
export class ApiError extends Error {
  readonly status: number;
  /** Each thing that is wrong, with its field. */
  readonly errors: readonly FieldError[];

  constructor(status: number, message: string, errors: readonly FieldError[] = []) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.errors = errors;
  }
}

/** Something read from the API, and the entity tag it had then. */
export interface Seen {
  readonly path: string;
  readonly etag: string;
}

/** Speaks to the API of the origin that served the page. */
export class ApiClient {
  readonly #credential: () => string;
  readonly #onRefusedKey: (why: string) => void;
  readonly #etags = new Map<string, string>();

  /**
   * @param credential the key or token of this moment
   * @param onRefusedKey called with the API's sentence when it says 401
   */
  constructor(credential: () => string, onRefusedKey: (why: string) => void) {
    this.#credential = credential;
    this.#onRefusedKey = onRefusedKey;
  }

  /** @throws ApiError */
  async get<Answer>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Answer> {
    const response = await this.#send('GET', withQuery(path, query), { ...(signal && { signal }) });
    const etag = response.headers.get('etag');
    if (etag !== null) this.#etags.set(path, etag);
    return response.json() as Promise<Answer>;
  }

  /** What was read last from a path: what one decides upon. Null: nothing, or it has no entity tag. */
  seenAt(path: string): Seen | null {
    const etag = this.#etags.get(path);
    return etag === undefined ? null : { path, etag };
  }

  /**
   * Sends a POST with an Idempotency-Key of its own, so that a proxy's second try does nothing twice (C10c).
   * @param seen what was decided upon; the order is refused (412) when that changed meanwhile, by others than oneself: the
   *   answer is what is seen next. Null: whatever it is now
   * @throws ApiError
   */
  async post<Answer>(path: string, body: unknown = {}, seen: Seen | null = null): Promise<Answer> {
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
      ...(seen !== null && { 'if-match': seen.etag }),
    };
    const response = await this.#send('POST', path, { headers, body: JSON.stringify(body) });
    const etag = response.headers.get('etag');
    if (seen !== null && etag !== null) this.#etags.set(seen.path, etag);
    return response.json() as Promise<Answer>;
  }

  /**
   * Reads a stream of server-sent events until it ends; `lastId` continues after that event.
   * @param onChunk called at the beginning and whenever anything arrives, a keep-alive as well
   * @throws ApiError
   */
  async *events(
    path: string,
    { lastId, signal, onChunk }: { lastId: string; signal: AbortSignal; onChunk: () => void },
  ): AsyncGenerator<ServerSentEvent> {
    const headers = { accept: 'text/event-stream', 'last-event-id': lastId };
    const response = await this.#send('GET', path, { headers, signal });
    onChunk();
    if (response.body) yield* serverSentEvents(chunksOf(response.body, onChunk));
  }

  async #send(
    method: string,
    path: string,
    { signal, ...init }: { signal?: AbortSignal; headers?: Record<string, string>; body?: string },
  ): Promise<Response> {
    const headers = { accept: 'application/json', ...init.headers, authorization: `Bearer ${this.#credential()}` };
    const response = await fetch(path, {
      ...init,
      method,
      headers,
      signal: signal ?? AbortSignal.timeout(TIMEOUT_MS),
      credentials: 'omit',
      cache: 'no-store',
    }).catch((cause: unknown) => {
      if (signal?.aborted) throw cause;
      throw new ApiError(0, 'The control plane does not answer.');
    });
    if (response.ok) return response;
    const error = await refusal(response);
    if (response.status === 401) this.#onRefusedKey(error.message);
    throw error;
  }
}

/** Streams are not iterable in every browser yet. */
async function* chunksOf(body: ReadableStream<Uint8Array>, onChunk: () => void): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onChunk();
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

async function refusal(response: Response): Promise<ApiError> {
  const problem = (await response.json().catch(() => null)) as Partial<Problem> | null;
  const sentence = problem?.detail ?? `The control plane answered ${response.status}.`;
  return new ApiError(response.status, sentence, problem?.errors ?? []);
}

function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === null || value === '' ? [] : [[name, String(value)] as [string, string]],
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}
