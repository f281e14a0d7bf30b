import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/**
 * Runs inside a lab host, whose network may be cut: starts a command and looks at a port of the host while it works.
 * Arguments: address, port, shell command; prints `Clocked` as JSON. The port must be closed at some moment.
 */
export interface Clocked {
  /** From the command's start to its end, milliseconds. */
  readonly wholeMs: number;
  /** From the command's start until the port, once closed, answered again. */
  readonly openAfterMs: number;
}

const LOOK_EVERY_MS = 2;
const GIVE_UP_MS = 120_000;
const [host = '', port = '', command = ''] = process.argv.slice(2);

const began = performance.now();
const whole = promisify(execFile)('/bin/sh', ['-c', command]).then(() => performance.now() - began);
const [wholeMs, openAfterMs] = await Promise.all([whole, openAgain()]);
const clocked: Clocked = { wholeMs, openAfterMs };
console.log(JSON.stringify(clocked));

/** @throws Error when the port was not seen closed and open again in time */
async function openAgain(): Promise<number> {
  let wasClosed = false;
  while (performance.now() - began < GIVE_UP_MS) {
    const open = await isOpen();
    if (open && wasClosed) return performance.now() - began;
    wasClosed ||= !open;
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`port ${port} was ${wasClosed ? 'closed and never open again' : 'never closed'}`);
}

function isOpen(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
