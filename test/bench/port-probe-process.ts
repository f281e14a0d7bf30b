import { connect } from 'node:net';

/**
 * Probes one TCP port every millisecond, in a process of its own so that nothing the bench does delays a probe. Sends
 * `Gap` for each time the port was closed, measured between the probes that last and first succeeded.
 */
export interface Gap {
  readonly closedMs: number;
  /** When the port was open again, milliseconds since 1970. */
  readonly openAgainAt: number;
}

const [host = '', port = ''] = process.argv.slice(2);
let lastOpen: number | undefined;
let firstOpenAgain: number | undefined;
let closed = false;

setInterval(() => {
  const at = performance.timeOrigin + performance.now();
  const socket = connect({ host, port: Number(port) });
  socket.once('connect', () => {
    socket.destroy();
    answered(at);
  });
  socket.once('error', () => refused(at));
}, 1);

function answered(at: number): void {
  if (closed && lastOpen !== undefined && at > (firstOpenAgain ?? 0)) {
    const gap: Gap = { closedMs: at - lastOpen, openAgainAt: at };
    process.send?.(gap);
    firstOpenAgain = at;
  } else if (lastOpen === undefined) process.send?.('open');
  closed = false;
  lastOpen = at;
}

/** A refusal that is older than the last success says nothing. */
function refused(at: number): void {
  if (lastOpen !== undefined && at > lastOpen) closed = true;
}
