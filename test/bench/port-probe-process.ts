import { connect } from 'node:net';

/**
 * Probes one TCP port every millisecond, in a process of its own so that nothing the bench does delays a probe. Sends
 * `Gap` for each time the port was closed: from the last connection before a refusal to the first one made after it.
 * A probe that is neither refused nor answered (a published port whose container the host's neighbour table has lost)
 * counts when it is answered, not when it was sent. Told anything, it says `open` at the next connection.
 */
export interface Gap {
  readonly closedMs: number;
  /** When the port was open again, milliseconds since 1970. */
  readonly openAgainAt: number;
}

const [host = '', port = ''] = process.argv.slice(2);
const now = () => performance.timeOrigin + performance.now();
let lastOpen: { readonly sentAt: number; readonly at: number } | undefined;
/** When the last refused probe was sent; undefined while the port is open. */
let refusedAt: number | undefined;
let asked = false;

process.on('disconnect', () => process.exit());
process.on('message', () => {
  asked = true;
});

setInterval(() => {
  const sentAt = now();
  const socket = connect({ host, port: Number(port) });
  socket.once('connect', () => {
    socket.destroy();
    answered(sentAt);
  });
  socket.once('error', () => refused(sentAt));
}, 1);

function answered(sentAt: number): void {
  if (refusedAt !== undefined && sentAt < refusedAt) return; // older than a refusal: says nothing of now
  const at = now();
  if (refusedAt !== undefined && lastOpen !== undefined) {
    const gap: Gap = { closedMs: at - lastOpen.at, openAgainAt: at };
    process.send?.(gap);
  }
  refusedAt = undefined;
  lastOpen = { sentAt, at };
  if (asked) process.send?.('open');
  asked = false;
}

function refused(sentAt: number): void {
  if (lastOpen !== undefined && sentAt < lastOpen.sentAt) return; // older than the last connection
  refusedAt = Math.max(sentAt, refusedAt ?? 0);
}
