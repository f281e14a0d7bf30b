import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { errnoOf } from '../agent-error.ts';
import { followLinks } from '../host/atomic-file.ts';
import { executableOf, type ProcessIdentity, readProcess } from '../host/process-table.ts';
import { RuntimeError } from './runtime-adapter.ts';

/** Backups lie inside the data folder; whoever writes one runs no node. */
const NOT_THE_NODES = '/.upgrade-backup/';
/** Access mode of open(2) in `flags:` of /proc/<pid>/fdinfo, octal: O_RDONLY. */
const READ_ONLY = 0;

export interface NodeFiles {
  /** As configured; may be a link. */
  readonly installPath: string;
  readonly dataDir: string;
}

/**
 * Instances of a node that run outside its service (A19): somebody started the binary by hand, a `.bak` of it, or one that
 * left the service. Both must be seen, so that no start is refused for a mere suspicion: it runs the installed program or
 * one named after it (`node.bak`, `node-v1`), and it has a file of the node's data folder open for writing. A query by the
 * same program, a backup tool or a second node with data of its own are none.
 * @param own processes that belong to the service
 */
export async function instancesOutside(files: NodeFiles, own: readonly ProcessIdentity[]): Promise<ProcessIdentity[]> {
  const names = [basename(files.installPath), basename(await followLinks(files.installPath))];
  const folder = `${await followLinks(files.dataDir)}/`;
  const isInstance = async (pid: number) => (await runsOneOf(pid, names)) && (await writesIn(pid, folder));
  const known = new Set([process.pid, ...own.map(({ pid }) => pid)]);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.filter((pid) => !known.has(pid)).map(async (pid) => ((await isInstance(pid)) ? readProcess(pid) : null)),
  );
  return found.flatMap((entry) => (entry && !entry.zombie ? [{ pid: entry.pid, startedAt: entry.startedAt }] : []));
}

/** @throws RuntimeError `fence_violated` that names the processes */
export async function requireNoInstanceOutside(
  service: string,
  files: NodeFiles,
  own: readonly ProcessIdentity[],
): Promise<void> {
  const outside = await instancesOutside(files, own);
  if (outside.length === 0) return;
  const pids = outside.map(({ pid }) => pid).join(', ');
  throw new RuntimeError(
    'fence_violated',
    `another instance of ${service} runs outside it (pid ${pids}) and writes in ${files.dataDir}: two would sign twice; end it, then try again`,
  );
}

async function runsOneOf(pid: number, programs: readonly string[]): Promise<boolean> {
  const executable = await executableOf(pid).catch(unlessForeign);
  return executable !== null && programs.some((program) => isNamedAfter(basename(executable), program));
}

function isNamedAfter(name: string, program: string): boolean {
  return name === program || (name.startsWith(program) && /^[.\-_]/.test(name.slice(program.length)));
}

async function writesIn(pid: number, folder: string): Promise<boolean> {
  const fds = (await readdir(`/proc/${pid}/fd`).catch(unlessForeign)) ?? [];
  const written = await Promise.all(fds.map((fd) => isWritten(pid, fd, folder)));
  return written.includes(true);
}

async function isWritten(pid: number, fd: string, folder: string): Promise<boolean> {
  const path = await readlink(`/proc/${pid}/fd/${fd}`).catch(unlessForeign);
  if (!path?.startsWith(folder) || path.includes(NOT_THE_NODES)) return false;
  const info = (await readFile(`/proc/${pid}/fdinfo/${fd}`, 'utf8').catch(unlessForeign)) ?? '';
  const flags = Number.parseInt(/^flags:\s*(\d+)/m.exec(info)?.[1] ?? '0', 8);
  return (flags & 3) !== READ_ONLY;
}

/** It ended between two looks, or belongs to a user whose processes this agent may not look into. */
function unlessForeign(error: unknown): null {
  if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errnoOf(error) ?? '')) return null;
  throw error;
}
