import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { degradations } from './degradations.ts';
import { metrics } from './registry.ts';

export interface StatusServer {
  /** host:port it listens on. */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * `/health`, `/readyz` and `/metrics` of a role that serves nothing else by HTTP.
 * @param listen `host:port`; port 0 takes a free one
 * @param ready rejects with the reason while the role can't do its work
 * @throws when the port is taken
 */
export async function startStatusServer(listen: string, ready: () => Promise<void>): Promise<StatusServer> {
  const server = createServer((request, response) => {
    answer(request.url ?? '/', ready).then(
      ({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body),
      (error: Error) => response.writeHead(500, { 'content-type': 'text/plain' }).end(`${error.message}\n`),
    );
  });
  const { host, port } = hostAndPort(listen);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  const { address, port: bound } = server.address() as AddressInfo;
  return { address: `${address}:${bound}`, close: () => close(server) };
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

async function answer(url: string, ready: () => Promise<void>): Promise<Answer> {
  const text = (status: number, body: string): Answer => ({ status, type: 'text/plain', body: `${body}\n` });
  if (url === '/health') return text(200, 'ok');
  if (url === '/metrics') return { status: 200, type: metrics.contentType, body: await metrics.metrics() };
  if (url !== '/readyz') return text(404, 'only /health, /readyz and /metrics are here');
  try {
    await ready();
    return text(200, ['ready', ...degradations().map((what) => `degraded: ${what}`)].join('\n'));
  } catch (error) {
    return text(503, error instanceof Error ? error.message : String(error));
  }
}

/** Splits `host:port`, an IPv6 host in brackets. */
export function hostAndPort(listen: string): { host: string; port: number } {
  const colon = listen.lastIndexOf(':');
  return { host: listen.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port: Number(listen.slice(colon + 1)) };
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
}
