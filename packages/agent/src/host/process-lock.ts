import { createHash } from 'node:crypto';
import { connect, createServer, type Server } from 'node:net';

/**
 * Makes sure that one process at a time holds a name. The lock is a socket in the kernel's abstract namespace: it goes
 * with its process however that ends, so there is no stale lock file to judge.
 * @param name usually a folder; two names never collide
 * @returns null when another process holds it
 */
export function lockProcess(name: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.unref();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null);
      else reject(error);
    });
    server.listen(addressOf(name), () => resolve(server));
  });
}

/** Whether a process holds the name at this moment; doesn't take it, so that a starting agent is never in the way. */
export function isProcessLocked(name: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(addressOf(name));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') resolve(false);
      else reject(error);
    });
  });
}

function addressOf(name: string): string {
  return `\0hoodcloud-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}
