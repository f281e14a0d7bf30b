import { randomUUID } from 'node:crypto';
import { type ServerSentEvent, serverSentEvents } from '@hoodcloud/contracts/http/event-stream';
import { CliError } from '../cli-error.ts';
import type { Credentials } from '../session/credentials-file.ts';
import { apiError } from './problem.ts';

const TIMEOUT_MS = 30_000;

/** Query values; undefined and null ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Speaks to the control plane's HTTP API: keys, idempotency, problems as sentences. */
export class ApiClient {
  readonly #to: Credentials;
  readonly #fetch: typeof fetch;
  readonly #interrupted: AbortSignal;

  constructor(to: Credentials, io: { readonly fetch: typeof fetch; readonly interrupted: AbortSignal }) {
    this.#to = to;
    this.#fetch = io.fetch;
    this.#interrupted = io.interrupted;
  }

  /** @throws ApiError when the server refuses, CliError when it can't be reached */
  async get<Answer>(path: string, query: Query = {}): Promise<Answer> {
    return this.#json<Answer>('GET', withQuery(path, query));
  }

  /**
   * Sends a POST with an Idempotency-Key of its own, so that a proxy's second try creates nothing twice (C10c).
   * @throws ApiError when the server refuses, CliError when it can't be reached
   */
  async post<Answer>(path: string, body: unknown = {}, query: Query = {}): Promise<Answer> {
    return this.#json<Answer>('POST', withQuery(path, query), body);
  }

  /** Sends the whole of a thing as it is to be; said again it changes nothing. @throws as `post` */
  async put<Answer>(path: string, body: unknown, query: Query = {}): Promise<Answer> {
    return this.#json<Answer>('PUT', withQuery(path, query), body);
  }

  /** @throws ApiError when the server refuses, CliError when it can't be reached */
  async delete<Answer>(path: string): Promise<Answer> {
    return this.#json<Answer>('DELETE', path);
  }

  /** Reads a stream of server-sent events until it ends or `signal` aborts; `lastId` continues after that event. */
  async *events(path: string, lastId: string | null, signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
    const headers = { accept: 'text/event-stream', ...(lastId !== null && { 'last-event-id': lastId }) };
    const response = await this.#send('GET', path, { headers, signal: AbortSignal.any([signal, this.#interrupted]) });
    if (response.body) yield* serverSentEvents(response.body);
  }

  async #json<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const signal = AbortSignal.any([this.#interrupted, AbortSignal.timeout(TIMEOUT_MS)]);
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = {
      accept: 'application/json',
      ...(method !== 'GET' && { 'idempotency-key': randomUUID() }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const response = await this.#send(method, path, { headers, signal, ...sent });
    return (response.status === 204 ? undefined : await parsed(response)) as Answer;
  }

  async #send(method: string, path: string, init: RequestInit & { headers: object }): Promise<Response> {
    const url = `${this.#to.url}${path}`;
    const headers = { ...init.headers, authorization: `Bearer ${this.#to.apiKey}` };
    const response = await this.#fetch(url, { ...init, method, headers }).catch((cause: unknown) => {
      if (this.#interrupted.aborted || init.signal?.aborted) throw cause;
      throw new CliError(`${this.#to.url} doesn't answer: ${reasonOf(cause)}.`, {
        next: 'check the URL and that the role "api" runs there: curl URL/health',
        cause,
      });
    });
    if (response.ok) return response;
    throw apiError(response.status, await parsed(response), `${method} ${path}`);
  }
}

function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, String(value)] as [string, string]],
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}

/** The JSON body; null when it is empty or something else (a proxy's page). */
async function parsed(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return null; // the status then has to speak for itself
  }
}

/** undici hides the system's error one level down. */
function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const { code, message } = inner as { code?: string; message?: string };
  if (code === 'ECONNREFUSED') return 'the connection is refused';
  if (code === 'ENOTFOUND') return 'its name is unknown';
  return message ?? String(inner);
}
