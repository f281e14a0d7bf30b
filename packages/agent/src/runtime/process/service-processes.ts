import { createHash } from 'node:crypto';
import { closeSync, openSync, readdirSync, read as readWithCallback } from 'node:fs';
import { promisify } from 'node:util';
import { errnoOf } from '../../agent-error.ts';
import { type ProcessIdentity, readProcess } from '../../host/process-table.ts';

const VARIABLE = 'HOODCLOUD_SERVICE';
const read = promisify(readWithCallback);
/** Of an environment read at once: nearly every one whole. */
const CHUNK_BYTES = 16 * 1024;
/** Environments that are read side by side: as many as the thread pool has threads. */
const READERS = 4;

/** Set in the node's environment and inherited by all that it starts: who belongs to the service (A19). */
export function serviceMark(folder: string): { readonly [VARIABLE]: string } {
  return { [VARIABLE]: createHash('sha256').update(folder).digest('hex').slice(0, 32) };
}

/**
 * Every living process of the service, found in /proc: also one whose supervisor died before it could note its pid, and
 * one that left its process group.
 */
export async function processesOfService(folder: string): Promise<ProcessIdentity[]> {
  const mark = `${VARIABLE}=${serviceMark(folder)[VARIABLE]}`;
  const pids = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  const found: ProcessIdentity[] = [];
  const readSome = async () => {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let pid = pids.pop(); pid !== undefined; pid = pids.pop()) {
      const entry = (await isMarked(pid, mark, chunk)) ? await readProcess(pid) : null;
      if (entry !== null && !entry.zombie) found.push(entry);
    }
  };
  await Promise.all(Array.from({ length: READERS }, readSome));
  return found.sort((a, b) => a.pid - b.pid);
}

/** One turn through the thread pool each: the read waits where a process is stuck in the kernel, and must not hold us up. */
async function isMarked(pid: number, mark: string, chunk: Buffer): Promise<boolean> {
  let fd: number | null = null;
  try {
    fd = openSync(`/proc/${pid}/environ`, 'r');
    let environment = '';
    for (let bytes = CHUNK_BYTES; bytes === CHUNK_BYTES; ) {
      bytes = (await read(fd, chunk, 0, CHUNK_BYTES, environment.length)).bytesRead;
      environment += chunk.toString('latin1', 0, bytes);
    }
    return environment.split('\0').includes(mark);
  } catch (error) {
    // it ended meanwhile, or belongs to a user whose processes are none of ours
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errnoOf(error) ?? '')) return false;
    throw error;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}
