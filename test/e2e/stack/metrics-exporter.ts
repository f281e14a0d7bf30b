import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** A node that has written no block for so long answers nothing, as one that is down. */
const SILENT_MS = 30_000;

/**
 * What exporters do for real nodes that have no metrics page of their own: answers each tiny node's height in
 * Prometheus' format from what the node itself wrote last.
 */
export class MetricsExporter {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(): Promise<MetricsExporter> {
    const server = createServer((request, response) => {
      heightIn(decodeURIComponent((request.url ?? '').slice(1))).then(
        (height) => response.writeHead(200, { 'content-type': 'text/plain' }).end(`tiny_height ${height}\n`),
        (error: Error) => response.writeHead(503).end(`${error.message}\n`),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new MetricsExporter(server);
  }

  /** The metrics page of the node with this data folder. */
  urlOf(dataDir: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${encodeURIComponent(dataDir)}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}

async function heightIn(dataDir: string): Promise<number> {
  const file = join(dataDir, 'height');
  const [text, { mtimeMs }] = await Promise.all([readFile(file, 'utf8'), stat(file)]);
  if (Date.now() - mtimeMs > SILENT_MS) throw new Error('the node makes no blocks');
  return Number(text);
}
