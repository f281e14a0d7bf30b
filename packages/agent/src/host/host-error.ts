import type { AgentErrorCode } from '@hoodcloud/domain/failure-class';
import { AgentError, errnoOf } from '../agent-error.ts';

/** The host refused something: a path, a disk, a file system. */
export class HostError extends AgentError {}

const MEANINGS: Readonly<Record<string, [code: AgentErrorCode, sentence: string]>> = {
  ENOSPC: ['disk_full', 'the disk is full: free some space and try again'],
  EDQUOT: ['disk_full', 'the disk quota is used up: raise it and try again'],
  EROFS: ['read_only', 'the file system is mounted read-only: mount it writable and try again'],
  EACCES: ['permission_denied', 'the agent is not allowed to: run it as a user who may'],
  EPERM: ['permission_denied', 'the agent is not allowed to: run it as a user who may'],
  EIO: ['io_error', 'the disk reported an I/O error: check its health'],
};

/** Runs `work`; a failed system call becomes a `HostError` that says what was being done, to which path, and what to do. */
export async function explainingHostErrors<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const [code, sentence] = MEANINGS[errnoOf(error) ?? ''] ?? [];
    if (code === undefined) throw error;
    throw new HostError(code, `could not ${what}: ${sentence}`, { cause: error });
  }
}
