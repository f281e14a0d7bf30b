import { join } from 'node:path';
import { replaceFile } from '../host/atomic-file.ts';
import { bootId, readProcess } from '../host/process-table.ts';
import { readTextIfThere } from '../host/read-if-there.ts';

/** Which process of the agent the gateway has welcomed last: the proof that an upgraded agent came back. */
interface SessionMark {
  readonly pid: number;
  readonly startedAt: number;
  readonly bootId: string;
}

function pathIn(stateDir: string): string {
  return join(stateDir, 'session.json');
}

/** Written by the agent at each welcome. */
export async function markSession(stateDir: string): Promise<void> {
  const own = await readProcess(process.pid);
  const mark: SessionMark = { pid: process.pid, startedAt: own?.startedAt ?? 0, bootId: await bootId() };
  await replaceFile(pathIn(stateDir), `${JSON.stringify(mark)}\n`);
}

/** Whether this very process has had a session with the gateway. */
export async function hadSession(stateDir: string, pid: number, startedAt: number): Promise<boolean> {
  const mark = await read(stateDir);
  return mark !== null && mark.pid === pid && mark.startedAt === startedAt && mark.bootId === (await bootId());
}

/** Null when nobody was ever welcomed; a mark that can't be understood proves nothing either. */
async function read(stateDir: string): Promise<SessionMark | null> {
  try {
    return JSON.parse((await readTextIfThere(pathIn(stateDir))) ?? 'null');
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
