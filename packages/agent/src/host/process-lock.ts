import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/**
 * Makes sure that one process at a time holds a name. The lock is a socket in the kernel's abstract namespace: it goes
 * with its process however that ends, so there is no stale lock file to judge.
 * @param name usually a folder; two names never collide
 * @returns null when another process holds it
 */
export function lockProcess(name: string): Promise<Server | null> {
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 32);
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.unref();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null);
      else reject(error);
    });
    server.listen(`\0hoodcloud-${digest}`, () => resolve(server));
  });
}
