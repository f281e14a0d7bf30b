import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type NodeToObserve, pidsOf } from '../report/observe-nodes.ts';

const GRACE_MS = 20_000;
const POLL_MS = 100;

/**
 * Ends the demo's nodes and their supervisors, which outlive the agents on purpose (A18a). A supervisor is a node's
 * parent; it is told first, or it would start the node again.
 */
export async function endNodes(nodes: readonly NodeToObserve[], folder: string): Promise<void> {
  const pids = (await Promise.all(nodes.map(({ home }) => pidsOf(home)))).flat();
  const parents = (await Promise.all(pids.map(parentOf))).flat();
  const supervisors = (await Promise.all(parents.map((pid) => ifOurs(pid, folder)))).flat();
  for (const pid of [...new Set(supervisors), ...pids]) tell(pid, 'SIGTERM');
  const deadline = performance.now() + GRACE_MS;
  const all = [...supervisors, ...pids];
  while ((await Promise.all(all.map(lives))).some(Boolean)) {
    if (performance.now() > deadline) throw new Error(`Still running after ${GRACE_MS / 1000} s: ${all.join(', ')}`);
    await sleep(POLL_MS);
  }
}

async function parentOf(pid: number): Promise<number[]> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''); // it may have ended meanwhile
  const parent = Number(/^PPid:\t(\d+)$/m.exec(status)?.[1] ?? 0);
  return parent > 1 ? [parent] : [];
}

/** Only what was started with a path of the demo's folder is the demo's to end. */
async function ifOurs(pid: number, folder: string): Promise<number[]> {
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return words.includes(folder) ? [pid] : [];
}

/** A zombie that nobody has reaped yet is gone for every purpose. */
async function lives(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z';
}

function tell(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it ended by itself
  }
}
