import { readFile, stat } from 'node:fs/promises';
import { errnoOf } from '../agent-error.ts';

/** As whom a service runs, as its main process shows it: the same for every runtime. */
export interface ServiceIdentity {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  /** What tells the dynamic loader where to look; a new binary of the service needs it too. */
  readonly loaderEnv: Readonly<Record<string, string>>;
  /** Nothing runs that would show it: taken from the owner of the binary. */
  readonly guessed: boolean;
}

const LOADER_VARIABLES = ['LD_LIBRARY_PATH', 'LD_PRELOAD'];

/** Whom a binary belongs to: the nearest to the service's user while the service is stopped. */
export async function ownerOf(path: string): Promise<ServiceIdentity> {
  const { uid, gid } = await stat(path);
  return { uid, gid, groups: [], loaderEnv: {}, guessed: true };
}

/** Null when the process has gone, or may not be looked at. */
export async function identityOfProcess(pid: number): Promise<ServiceIdentity | null> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const environ = await readFile(`/proc/${pid}/environ`, 'utf8');
    const numbers = (name: string) =>
      (new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? '').split(/\s+/).filter(Boolean).map(Number);
    const pairs = environ
      .split('\0')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
    const [, uid] = numbers('Uid'); // real, effective, saved, file system
    const [, gid] = numbers('Gid');
    if (uid === undefined || gid === undefined) return null;
    const loaderEnv = Object.fromEntries(pairs.filter(([name = '']) => LOADER_VARIABLES.includes(name)));
    return { uid, gid, groups: numbers('Groups'), loaderEnv, guessed: false };
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes(errnoOf(error) ?? '')) return null;
    throw error;
  }
}
