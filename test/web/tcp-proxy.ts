import { connect, createServer, type Server, type Socket } from 'node:net';

/** The way between a browser and the API, which a test can cut and mend. */
export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #cut = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** @param target the port of this machine to lead to, asked for at each connection */
  static async open(target: () => number): Promise<{ proxy: TcpProxy; url: string }> {
    const server = createServer();
    const proxy = new TcpProxy(server);
    server.on('connection', (socket) => proxy.#pass(socket, target));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
    return { proxy, url: `http://127.0.0.1:${address.port}` };
  }

  /** Breaks every connection and refuses new ones. */
  cut(): void {
    this.#cut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#cut = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(socket: Socket, target: () => number): void {
    if (this.#cut) return void socket.destroy();
    const onward = connect(target(), '127.0.0.1');
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
