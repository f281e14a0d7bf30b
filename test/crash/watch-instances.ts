import { readdirSync, readFileSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';

/**
 * Runs inside a lab host as a process of its own: looks every few milliseconds which processes were started from one
 * executable, and keeps what it saw in a file. Two that live at the same time would sign twice (A19).
 * Arguments: path of the executable, file.
 */
export interface WatchReport {
  readonly samples: number;
  /** The most that were seen at once. */
  readonly most: number;
  /** Each time that two were seen: their pids, and when, RFC 3339. */
  readonly doubles: readonly string[];
}

const EVERY_MS = 10;
const REPORT_EVERY_MS = 200;

const [, , executable = '', file = ''] = process.argv;
let report = earlierReport();

setInterval(look, EVERY_MS);
setInterval(keep, REPORT_EVERY_MS);

function look(): void {
  let living = instances();
  // two that follow one another are both in one pass over /proc, not in two
  if (living.length > 1) living = instances().filter((pid) => living.includes(pid));
  const doubles =
    living.length > 1 ? [...report.doubles, `${living.join(' and ')} at ${new Date().toISOString()}`] : report.doubles;
  report = { samples: report.samples + 1, most: Math.max(report.most, living.length), doubles };
  if (living.length > 1) keep();
}

/** Their children that have not run another program yet are no instances. */
function instances(): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isInstance(name));
  return pids.filter((pid) => !pids.includes(parentOf(pid)));
}

function isInstance(pid: string): boolean {
  return tryTo(() => readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '') === executable) ?? false;
}

function parentOf(pid: string): string {
  const stat = tryTo(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? '';
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? '';
}

function keep(): void {
  writeFileSync(`${file}.new`, JSON.stringify(report));
  renameSync(`${file}.new`, file);
}

/** Sums go on after the host has lost its power. */
function earlierReport(): WatchReport {
  const text = tryTo(() => readFileSync(file, 'utf8'));
  return text === null ? { samples: 0, most: 0, doubles: [] } : JSON.parse(text);
}

/** Null when the process, or the file, is not there. */
function tryTo<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return null;
    throw error;
  }
}
