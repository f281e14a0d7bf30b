import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../agent-error.ts';
import { executableOf, type ProcessIdentity, readProcess } from '../../host/process-table.ts';

/** Where the tree of control groups may be mounted: unified, hybrid, and the named hierarchy of cgroup v1. */
const CGROUP_ROOTS = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified', '/sys/fs/cgroup/systemd'];

/** The live processes of a unit's control group and of the groups below it, the main one first. */
export async function processesOf(controlGroup: string, mainPid: number | null): Promise<ProcessIdentity[]> {
  if (controlGroup === '' || controlGroup === '/') return [];
  const groups = await Promise.all(CGROUP_ROOTS.map((root) => pidsBelow(join(root, controlGroup))));
  const pids = [...new Set(groups.flat())].sort((a, b) => Number(b === mainPid) - Number(a === mainPid));
  const entries = await Promise.all(pids.map(readProcess));
  return entries.flatMap((entry) => (entry && !entry.zombie ? [{ pid: entry.pid, startedAt: entry.startedAt }] : []));
}

/**
 * The process that runs the artifact: not the main one under Cosmovisor or a wrapper script (A6); null when none does.
 * @param rootDirectory what is `/` for them: their executables are named from there
 */
export async function artifactProcess(
  processes: readonly ProcessIdentity[],
  installPath: string,
  rootDirectory = '',
): Promise<ProcessIdentity | null> {
  const executables = await Promise.all(processes.map(({ pid }) => executableOf(pid)));
  const isIt = (path: string | null) =>
    path !== null && (path === installPath || `${rootDirectory}${path}` === installPath);
  return processes.find((_, index) => isIt(executables[index] ?? null)) ?? null;
}

async function pidsBelow(folder: string): Promise<number[]> {
  try {
    const pids = (await readFile(join(folder, 'cgroup.procs'), 'utf8')).split('\n').filter(Boolean).map(Number);
    const entries = await readdir(folder, { withFileTypes: true });
    const below = entries.filter((entry) => entry.isDirectory()).map((entry) => pidsBelow(join(folder, entry.name)));
    return pids.concat(...(await Promise.all(below)));
  } catch (error) {
    if (isGone(error)) return []; // a group ends together with its last process
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENODEV', 'ENOTDIR'].includes(errnoOf(error) ?? '');
}
