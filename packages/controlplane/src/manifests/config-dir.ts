import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '@hoodcloud/domain/errors';

/** Where the chains' files are now; asked at each call, since a sync may move it (spec "Manifest Loader"). */
export type ConfigDirProvider = () => string;

/** A file of the config folder that should be there is not. */
export class ConfigFileNotFoundError extends DomainError {
  constructor(file: string, hint: string) {
    super('config_file_not_found', `${file} is not in the config folder: ${hint}`, { file });
  }
}

const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** A name that would lead out of the config folder. */
export class UnsafeNameError extends DomainError {
  constructor(what: string, name: string) {
    super('unsafe_name', `"${name}" can't be a ${what}: use letters, digits, ".", "_" and "-"`, { [what]: name });
  }
}

/** @throws UnsafeNameError when the name is not one plain path segment */
export function assertSafeName(what: string, name: string): void {
  if (!SAFE_NAME.test(name)) throw new UnsafeNameError(what, name);
}

/**
 * Reads one file below the config folder.
 * @returns null when it is not there
 */
export async function readConfigFile(configDir: string, file: string): Promise<Buffer | null> {
  try {
    return await readFile(join(configDir, file));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Names of the files in a folder below the config folder, sorted; empty when there is none. */
export async function listConfigFolder(configDir: string, folder: string): Promise<string[]> {
  try {
    return (await readdir(join(configDir, folder))).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Changes whenever the file's content may have; null when it is not there. */
export async function fileStamp(configDir: string, file: string): Promise<string | null> {
  try {
    const { ino, size, mtimeNs } = await stat(join(configDir, file), { bigint: true });
    return `${configDir}:${ino}:${size}:${mtimeNs}`;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
