import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { errnoOf } from '../../agent-error.ts';
import { type ProcessIdentity, readProcess } from '../../host/process-table.ts';

const VARIABLE = 'HOODCLOUD_SERVICE';

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
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const marked = await Promise.all(pids.map(async (pid) => ((await isMarked(pid, mark)) ? readProcess(pid) : null)));
  return marked.filter((entry) => entry !== null && !entry.zombie) as ProcessIdentity[];
}

async function isMarked(pid: number, mark: string): Promise<boolean> {
  try {
    return (await readFile(`/proc/${pid}/environ`, 'latin1')).split('\0').includes(mark);
  } catch (error) {
    // it ended meanwhile, or belongs to a user whose processes are none of ours
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errnoOf(error) ?? '')) return false;
    throw error;
  }
}
