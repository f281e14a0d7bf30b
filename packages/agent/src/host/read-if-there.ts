import { readdir, readFile } from 'node:fs/promises';
import { errnoOf } from '../agent-error.ts';

/** A file's text; null when nothing is there. @throws the system's error when it is there and can't be read */
export async function readTextIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isNothingThere(error)) return null;
    throw error;
  }
}

/** Names in a folder; none when there is no such folder. @throws the system's error when it can't be read */
export async function namesInFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isNothingThere(error)) return [];
    throw error;
  }
}

/** A file where a folder of the path should be leaves no place for what is asked for either. */
function isNothingThere(error: unknown): boolean {
  return errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR';
}
