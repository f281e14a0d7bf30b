import { readFileSync, readlinkSync } from 'node:fs';
import { errnoOf } from '../agent-error.ts';
import type { FileHashes } from './file-hash.ts';

/** A process for good: pids are used again, start times are not (A7). */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot, /proc/<pid>/stat field 22. */
  readonly startedAt: number;
}

export interface ProcessEntry extends ProcessIdentity {
  /** Ended, but its parent has not taken note yet: dead for every purpose of ours. */
  readonly zombie: boolean;
}

/** Ticks of /proc/<pid>/stat in a second (USER_HZ: 100 on every Linux platform that Node runs on). */
const TICKS_PER_SECOND = 100;

/**
 * The process as /proc shows it now; null when there is none. Read at once: the kernel answers from memory, and the way
 * through the thread pool would take longer than the answer, in the middle of downtime too.
 */
export async function readProcess(pid: number): Promise<ProcessEntry | null> {
  const stat = readProcFile(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // the name in parentheses may hold spaces and parentheses itself: count from the last one
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  return {
    pid,
    startedAt: Number(fields[19]),
    zombie: state === 'Z' || state === 'X',
  };
}

/** Whether both name one process. */
export function isSameProcess(one: ProcessIdentity, other: ProcessIdentity): boolean {
  return one.pid === other.pid && one.startedAt === other.startedAt;
}

/** Whether exactly this process still lives; a zombie doesn't, another process with its pid isn't it. */
export async function isAlive(process: ProcessIdentity): Promise<boolean> {
  const entry = await readProcess(process.pid);
  return entry !== null && !entry.zombie && entry.startedAt === process.startedAt;
}

/**
 * Checksum of the executable that a service runs (A6).
 *
 * Under a wrapper (Cosmovisor, a shell) the main process isn't the artifact: a process whose executable was started
 * from `installPath` speaks for the service, the main process only when there is none.
 * @param pids every process of the service, the main one first
 */
export async function runningChecksumOf(
  pids: readonly number[],
  installPath: string,
  hashes: FileHashes,
): Promise<string | null> {
  const executables = await Promise.all(pids.map(executableOf));
  const ofArtifact = pids.find((_, index) => executables[index] === installPath) ?? pids[0];
  return ofArtifact === undefined ? null : hashes.of(`/proc/${ofArtifact}/exe`);
}

/** Path that the process was started from, even when another file has that name by now; null when it has gone. */
export async function executableOf(pid: number): Promise<string | null> {
  try {
    return readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '');
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** Milliseconds that a process has been running. */
export async function ageMs(process: ProcessIdentity): Promise<number> {
  const uptime = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
  return Math.max(0, (uptime - process.startedAt / TICKS_PER_SECOND) * 1000);
}

/** Changes with every boot of the host. */
export async function bootId(): Promise<string> {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

function readProcFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** A process may end between two looks at it. */
function isGone(error: unknown): boolean {
  return errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ESRCH';
}
