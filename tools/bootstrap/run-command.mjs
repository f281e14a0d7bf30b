import { spawn } from 'node:child_process';
import { ROOT } from './paths.mjs';

const GRACE_MS = 5000;
const INTERRUPTED = 130; // what shells answer for a program ended by Ctrl-C
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP'];

const ended = (code, signal) => ({ code: code ?? 128, signal: signal ?? undefined });

/**
 * Runs a program that talks to the terminal itself and waits for its end. It gets a process group of its own; what is
 * left of that group when it ends, or when we are interrupted, is ended too, so nothing outlives the verb.
 * @returns {Promise<{ code: number, signal?: string }>}
 */
export function runVisible(program, args, { env = process.env, cwd = ROOT } = {}) {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { env, cwd, stdio: 'inherit', detached: true });
    const interrupt = (signal) => child.kill(signal); // to the program alone: it ends what it started, in its order
    for (const name of PASSED_ON) process.on(name, interrupt);
    child.on('error', fail);
    child.on('exit', async (code, signal) => {
      for (const name of PASSED_ON) process.off(name, interrupt);
      await endGroup(child.pid);
      done(ended(code, signal));
    });
  });
}

/**
 * Runs a program and collects what it says; `output` holds both streams in order. Never throws for a failing program.
 * It has a process group of its own, which ends with us, however we end.
 */
export function runCollected(program, args, { env = process.env, cwd = ROOT } = {}) {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const forget = endsWithUs(child);
    let output = '';
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    child.on('error', (error) => {
      forget();
      fail(error);
    });
    child.on('close', (code, signal) => {
      forget();
      done({ ...ended(code, signal), output, stdout });
    });
  });
}

/** Sees to it that the child's group ends when we exit or are told to. @returns {() => void} to be called at its own end */
function endsWithUs(child) {
  const onExit = () => child.pid && signalGroup(child.pid, 'SIGTERM');
  const onSignal = () => process.exit(INTERRUPTED);
  process.on('exit', onExit);
  for (const name of PASSED_ON) process.on(name, onSignal);
  return () => {
    process.off('exit', onExit);
    for (const name of PASSED_ON) process.off(name, onSignal);
  };
}

/** Asks the group to end, waits until it did, and after the grace ends it by force. */
async function endGroup(pid) {
  if (!signalGroup(pid, 'SIGTERM')) return;
  const deadline = Date.now() + GRACE_MS;
  while (signalGroup(pid, 0)) {
    if (Date.now() > deadline) return void signalGroup(pid, 'SIGKILL');
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
    return true;
  } catch (error) {
    if (error.code === 'ESRCH' || error.code === 'EPERM') return false; // nobody left (EPERM: only zombies, macOS)
    throw error;
  }
}
