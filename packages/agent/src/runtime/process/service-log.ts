import { appendFileSync } from 'node:fs';
import { copyFile, open, stat, truncate } from 'node:fs/promises';
import { errnoOf } from '../../agent-error.ts';

const MARK = '--- started by hoodcloud-agent';
const TAIL_BYTES = 256 * 1024;

/** Restarts after a crash leave no mark: their lines belong to the start that failed (A18). */
export function markDeliberateStart(path: string): void {
  appendFileSync(path, `${MARK} at ${new Date().toISOString()} ---\n`, { mode: 0o640 });
}

/**
 * Keeps the log from filling the disk: one older copy, then from the beginning. The node goes on writing to the same
 * file (it outlives its supervisor, so no pipe stands between); lines of the instant of the copy may be lost.
 */
export async function rotateLog(path: string, maxBytes: number): Promise<void> {
  if ((await sizeOf(path)) <= maxBytes) return;
  await copyFile(path, `${path}.1`);
  await truncate(path);
}

/** Last lines since the latest deliberate start, oldest first. */
export async function tailOfLog(path: string, maxLines: number): Promise<string[]> {
  const size = await sizeOf(path);
  if (size === 0) return [];
  const file = await open(path, 'r');
  try {
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    await file.read(bytes, 0, bytes.length, size - bytes.length);
    const lines = bytes.toString('utf8').replace(/\n$/, '').split('\n');
    const start = lines.findLastIndex((line) => line.startsWith(MARK));
    return lines.slice(start + 1).slice(-maxLines);
  } finally {
    await file.close();
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 0;
    throw error;
  }
}
