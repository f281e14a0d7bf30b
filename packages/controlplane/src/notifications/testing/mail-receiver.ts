import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

/** An SMTP server on loopback that keeps what it is sent. */
export class MailReceiver {
  readonly port: number;
  readonly mails: { readonly to: string[]; readonly text: string }[] = [];
  /** Answer to each receiver of a mail, `250 ok` unless told otherwise. */
  answerToReceiver = '250 ok';
  readonly #close: () => Promise<void>;

  private constructor(port: number, close: () => Promise<void>) {
    this.port = port;
    this.#close = close;
  }

  static async start(): Promise<MailReceiver> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const receiver = new MailReceiver(port, () => new Promise((resolve) => server.close(() => resolve())));
    server.on('connection', (socket) => receiver.#converse(socket));
    return receiver;
  }

  stop(): Promise<void> {
    return this.#close();
  }

  #converse(socket: Socket): void {
    const say = (line: string) => void socket.write(`${line}\r\n`);
    let unread = '';
    let to: string[] = [];
    let content: string[] | null = null;
    const hear = (line: string) => {
      if (content) {
        if (line !== '.') return void content.push(line);
        this.mails.push({ to, text: content.join('\n') });
        [content, to] = [null, []];
        return say('250 kept');
      }
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === 'RCPT') to.push(/<(.*)>/.exec(line)?.[1] ?? '');
      if (verb === 'RCPT') return say(this.answerToReceiver);
      if (verb === 'DATA') content = [];
      if (verb === 'DATA') return say('354 go on');
      if (verb === 'STAR') return say('502 no TLS here');
      if (verb === 'QUIT') return void socket.end('221 bye\r\n');
      return say('250 ok');
    };
    socket.on('error', () => undefined); // the other side may just go
    socket.on('data', (chunk) => {
      const lines = (unread + chunk.toString('utf8')).split('\r\n');
      unread = lines.pop() ?? '';
      for (const line of lines) hear(line);
    });
    say('220 test');
  }
}
