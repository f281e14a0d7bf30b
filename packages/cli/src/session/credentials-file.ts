import { mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliError } from '../cli-error.ts';

/** What `hoodctl login` keeps. */
export interface Credentials {
  readonly url: string;
  readonly apiKey: string;
}

/** `$XDG_CONFIG_HOME/hoodcloud/hoodctl.json`, else the same under `~/.config`. */
export function credentialsPath(env: Readonly<Record<string, string | undefined>>): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'hoodcloud', 'hoodctl.json');
}

/**
 * Reads the file; null when there is none.
 * @throws CliError when others may read it, since it holds a key, or when it isn't what `login` writes
 */
export async function readCredentials(path: string): Promise<Credentials | null> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (!found) return null;
  if ((found.mode & 0o077) !== 0) {
    throw new CliError(`${path} holds an API key and others may read it.`, { next: `chmod 600 ${path}` });
  }
  const { url, api_key: apiKey } = parse(path, await readFile(path, 'utf8'));
  if (typeof url === 'string' && typeof apiKey === 'string') return { url, apiKey };
  throw new CliError(`${path} has no url and api_key.`, { next: 'hoodctl login --url URL' });
}

/** Replaces the file in one step, readable by its owner only. */
export async function writeCredentials(path: string, { url, apiKey }: Credentials): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${process.pid}`;
  const file = await open(unfinished, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify({ url, api_key: apiKey }, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}

function parse(path: string, text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (cause) {
    throw new CliError(`${path} isn't JSON.`, { next: 'hoodctl login --url URL', cause });
  }
}
