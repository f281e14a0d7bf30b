import { chmod, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { toJson } from '@bufbuild/protobuf';
import { CommandResultSchema } from '@hoodcloud/contracts/wire/agent-v1';
import type { Logger } from 'pino';
import { describeError } from '../agent-error.ts';
import type { Hand } from './hand.ts';
import { HAND_SOCKET, type HandAnswer, type HandRequest } from './hand-messages.ts';

/** Takes the orders of people on the host while the agent runs: a socket in its state_dir, which only its own user may open. */
export class HandServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  /** An agent that can't listen works all the same: then a rollback by hand needs it stopped. The caller holds its lock. */
  static async open(stateDir: string, hand: Hand, log: Logger): Promise<HandServer> {
    const path = join(stateDir, HAND_SOCKET);
    await rm(path, { force: true }); // left by an agent that was killed: nobody else can be listening
    const opened: HandServer = new HandServer(createServer((socket) => opened.#take(socket, hand, log)));
    try {
      await listen(opened.#server, path);
      await chmod(path, 0o600);
    } catch (error) {
      log.warn({ err: error, path }, 'rollbacks by hand are not taken while this agent runs');
    }
    return opened;
  }

  /** Orders under way go on until they have ended, or the process has. */
  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #take(socket: Socket, hand: Hand, log: Logger): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', (error) => log.debug({ err: error }, 'a command on the host went away'));
    const say = (answer: HandAnswer) => {
      if (!socket.destroyed) socket.write(`${JSON.stringify(answer)}\n`);
    };
    createInterface({ input: socket }).on('line', (line) => {
      answer(line, hand, say).catch((error: unknown) => {
        log.warn({ err: error }, 'an order on the host was refused');
        say({ error: describeError(error) });
      });
    });
  }
}

async function answer(line: string, hand: Hand, say: (answer: HandAnswer) => void): Promise<void> {
  const request = JSON.parse(line) as HandRequest;
  switch (request.do) {
    case 'preview':
      return say({ preview: await hand.preview(request.binaryName, request.attemptId) });
    case 'roll_back': {
      const result = await hand.rollBack(request.binaryName, request.agreed, (progress) => say({ progress }));
      return say({ result: toJson(CommandResultSchema, result) });
    }
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
