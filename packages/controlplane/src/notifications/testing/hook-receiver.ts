import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedHook {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A hook's receiver on loopback. What it answers is decided request by request; 204 unless told otherwise. */
export class HookReceiver {
  readonly url: string;
  readonly received: ReceivedHook[] = [];
  /** Null: it never answers. */
  answer: (hook: ReceivedHook) => { status: number; headers?: Record<string, string>; text?: string } | null;
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.answer = () => ({ status: 204 });
    this.#close = close;
  }

  static async start(): Promise<HookReceiver> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const receiver = new HookReceiver(
      `http://127.0.0.1:${port}/hook`,
      () =>
        new Promise((resolve) => {
          server.closeAllConnections();
          server.close(() => resolve());
        }),
    );
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const hook = { headers: request.headers, body: Buffer.concat(chunks).toString('utf8') };
      const answer = receiver.answer(hook);
      if (!answer) return;
      if (answer.status < 300) receiver.received.push(hook);
      response.writeHead(answer.status, answer.headers).end(answer.text);
    });
    return receiver;
  }

  /** Bodies it took, parsed. */
  get bodies(): { type?: string; text?: string; data?: { seq?: number } }[] {
    return this.received.map(({ body }) => JSON.parse(body));
  }

  stop(): Promise<void> {
    return this.#close();
  }
}
