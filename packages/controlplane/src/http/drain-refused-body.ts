import type { IncomingMessage } from 'node:http';

/** As much of a refused body as we read on; who sends more has its connection closed. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_MS = 10_000;

/**
 * Reads what a client still sends of a body that is already refused, and throws it away. Closing the connection at once
 * makes the client's own writing fail (EPIPE), so that it never reads why it was refused.
 * @returns whether the body came to its end within 64 MB and 10 s; if not, the connection must be closed
 */
export function drainRefusedBody(request: IncomingMessage): Promise<boolean> {
  if (request.readableEnded) return Promise.resolve(true);
  return new Promise((resolve) => {
    let received = 0;
    const done = (whole: boolean) => () => {
      clearTimeout(late);
      request.off('data', count).off('end', ended).off('close', cut).pause();
      resolve(whole);
    };
    const count = (chunk: Buffer) => {
      received += chunk.length;
      if (received > MOST_BYTES) cut();
    };
    const ended = done(true);
    const cut = done(false);
    const late = setTimeout(cut, MOST_MS);
    request.on('data', count).on('end', ended).on('close', cut).resume();
  });
}
