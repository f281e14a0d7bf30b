import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How one request for a file is answered. */
export type Behaviour =
  /** The whole file; a `Range: bytes=N-` gets 206 when `ranges` is set and the whole file otherwise. */
  | { readonly kind: 'serve'; readonly ranges?: boolean }
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly kind: 'redirect'; readonly to: string }
  /** Sends the client to the very URL that it asked for. */
  | { readonly kind: 'redirect_loop' }
  /** Announces the full length, sends the first bytes and breaks the connection. */
  | { readonly kind: 'cut_short'; readonly afterBytes: number; readonly etag?: string }
  /** What a broken proxy answers to a range: a part of the right length and total with other bytes in it. */
  | { readonly kind: 'wrong_part'; readonly etag?: string }
  /** The length is not told; the body ends with the connection's last chunk. */
  | { readonly kind: 'chunked' }
  /** The right length, one byte in the middle flipped. */
  | { readonly kind: 'wrong_bytes' }
  | { readonly kind: 'trickle'; readonly chunkBytes: number; readonly pauseMs: number }
  /** Sends the first bytes and then nothing more, with the connection open. */
  | { readonly kind: 'stall'; readonly afterBytes: number };

/** One request as it arrived. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
  readonly atMs: number;
}

interface Published {
  readonly content: Buffer;
  readonly behaviours: readonly Behaviour[];
  served: number;
}

/** 429 with `Retry-After`, in seconds. */
export function tooManyRequests(retryAfterSeconds: number): Behaviour {
  return { kind: 'status', status: 429, headers: { 'retry-after': String(retryAfterSeconds) } };
}

/** Serves release files over HTTP and fails in the ways that real servers do. */
export class ArtifactServer {
  readonly requests: RecordedRequest[] = [];
  readonly #server: Server;
  readonly #files = new Map<string, Published>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => this.#answer(request, response));
  }

  /** Listens on `address`: loopback, or a lab's control address for its hosts; port 0 is a free one. */
  static async listen(address = '127.0.0.1', port = 0): Promise<ArtifactServer> {
    const server = createServer();
    server.listen(port, address);
    await once(server, 'listening');
    return new ArtifactServer(server);
  }

  /** The address of the server, without a slash at its end. */
  get origin(): string {
    const { address, port } = this.#server.address() as AddressInfo;
    return `http://${address}:${port}`;
  }

  /**
   * Offers a file. The nth request is answered by the nth behaviour, the last one repeats; none means `serve`.
   * @returns the file's URL
   */
  publish(name: string, content: Buffer | string, ...behaviours: readonly Behaviour[]): string {
    const answers = behaviours.length === 0 ? [{ kind: 'serve', ranges: true } as const] : behaviours;
    this.#files.set(`/${name}`, { content: Buffer.from(content), behaviours: answers, served: 0 });
    return `${this.origin}/${name}`;
  }

  /** What is offered under a name. */
  contentOf(name: string): Buffer {
    const file = this.#files.get(`/${name}`);
    if (file === undefined) throw new Error(`${name} was never published`);
    return file.content;
  }

  /** The requests for one file, in the order of their arrival. */
  requestsFor(name: string): readonly RecordedRequest[] {
    return this.requests.filter(({ path }) => path === `/${name}`);
  }

  /** Ends the server and every open transfer. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { url: path = '/', method = 'GET' } = request;
    this.requests.push({
      method,
      path,
      range: request.headers.range,
      ifRange: request.headers['if-range'] as string | undefined,
      atMs: performance.now(),
    });
    const file = this.#files.get(path);
    if (file === undefined) {
      response.writeHead(404).end('no such file');
      return;
    }
    const behaviour = file.behaviours[Math.min(file.served, file.behaviours.length - 1)];
    file.served += 1;
    if (behaviour !== undefined) answerWith(behaviour, file.content, request, response);
  }
}

function answerWith(behaviour: Behaviour, content: Buffer, request: IncomingMessage, response: ServerResponse): void {
  switch (behaviour.kind) {
    case 'serve':
      serve(content, behaviour.ranges === true ? request.headers.range : undefined, response);
      break;
    case 'status':
      response.writeHead(behaviour.status, behaviour.headers).end(`status ${behaviour.status}`);
      break;
    case 'redirect':
      response.writeHead(302, { location: behaviour.to }).end();
      break;
    case 'redirect_loop':
      response.writeHead(302, { location: request.url ?? '/' }).end();
      break;
    case 'cut_short':
      if (behaviour.etag !== undefined) response.setHeader('etag', behaviour.etag);
      begin(content, response).write(content.subarray(0, behaviour.afterBytes), () => response.destroy());
      break;
    case 'wrong_part':
      if (behaviour.etag !== undefined) response.setHeader('etag', behaviour.etag);
      serve(Buffer.from(content).fill(0, content.length - 10), request.headers.range, response);
      break;
    case 'chunked':
      response.writeHead(200);
      response.write(content.subarray(0, 1000));
      response.end(content.subarray(1000));
      break;
    case 'wrong_bytes':
      begin(content, response).end(flipped(content));
      break;
    case 'trickle':
      trickle(content, behaviour, begin(content, response));
      break;
    case 'stall':
      begin(content, response).write(content.subarray(0, behaviour.afterBytes));
      break;
  }
}

function serve(content: Buffer, range: string | undefined, response: ServerResponse): void {
  const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? Number.NaN);
  if (Number.isNaN(from)) {
    begin(content, response).end(content);
  } else if (from >= content.length) {
    response.writeHead(416, { 'content-range': `bytes */${content.length}` }).end();
  } else {
    const headers = {
      'content-length': content.length - from,
      'content-range': `bytes ${from}-${content.length - 1}/${content.length}`,
    };
    response.writeHead(206, headers).end(content.subarray(from));
  }
}

function begin(content: Buffer, response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-length': content.length, 'accept-ranges': 'bytes' });
}

function flipped(content: Buffer): Buffer {
  const copy = Buffer.from(content);
  const middle = Math.floor(copy.length / 2);
  copy[middle] = (copy[middle] ?? 0) ^ 0xff;
  return copy;
}

function trickle(content: Buffer, pace: { chunkBytes: number; pauseMs: number }, response: ServerResponse): void {
  let sent = 0;
  const timer = setInterval(() => {
    response.write(content.subarray(sent, sent + pace.chunkBytes));
    sent += pace.chunkBytes;
    if (sent >= content.length) response.end();
  }, pace.pauseMs);
  response.on('close', () => clearInterval(timer));
}
