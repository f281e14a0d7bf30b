import { spawn } from 'node:child_process';
import { ROOT } from './paths.mjs';

const GRACE_MS = 5000;
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** What runCollected started and hasn't ended: a verb that fails takes it along. */
const collected = new Set();
process.once('exit', () => {
  for (const child of collected) child.kill('SIGINT');
});

const ended = (code, signal) => ({ code: code ?? 128, signal: signal ?? undefined });

/**
 * Runs a program that talks to the terminal itself and waits for its end. It gets a process group of its own; what is
 * left of that group when it ends, or when we are interrupted, is ended too, so nothing outlives the verb.
 * @returns {Promise<{ code: number, signal?: string }>}
 */
export function runVisible(program, args, { env = process.env, cwd = ROOT } = {}) {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { env, cwd, stdio: 'inherit', detached: true });
    const interrupt = (signal) => signalGroup(child.pid, signal);
    for (const name of PASSED_ON) process.on(name, interrupt);
    child.on('error', fail);
    child.on('exit', async (code, signal) => {
      for (const name of PASSED_ON) process.off(name, interrupt);
      await endGroup(child.pid);
      done(ended(code, signal));
    });
  });
}

/** Runs a program and collects what it says; `output` holds both streams in order. Never throws for a failing program. */
export function runCollected(program, args, { env = process.env, cwd = ROOT } = {}) {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    collected.add(child);
    let output = '';
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    child.on('error', fail);
    child.on('close', (code, signal) => {
      collected.delete(child);
      done({ ...ended(code, signal), output, stdout });
    });
  });
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
