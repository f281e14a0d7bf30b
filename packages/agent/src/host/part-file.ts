import { type FileHandle, open, rm } from 'node:fs/promises';
import { applyAttributes, type FileAttributes, renameDurably } from './atomic-file.ts';

/**
 * A file that is made over a long time: its bytes go to `{target}.part`, which gets the name, on the disk and with its
 * attributes, when `fill` resolves. Nothing is left behind by a failure; what a crash left is taken away first.
 * @returns what `fill` answered
 */
export async function writePartFile<T>(
  target: string,
  attributes: FileAttributes,
  fill: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const part = partBeside(target);
  await rm(part, { force: true });
  const file = await open(part, 'wx', 0o600);
  let filled: T;
  try {
    filled = await fill(file);
    await applyAttributes(file, attributes);
    await file.sync();
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await renameDurably(part, target);
  return filled;
}

/** Where the bytes are until the file is whole. */
export function partBeside(target: string): string {
  return `${target}.part`;
}
