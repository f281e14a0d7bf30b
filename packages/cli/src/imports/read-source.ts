import { readFile } from 'node:fs/promises';
import { CliError, UsageError } from '../cli-error.ts';
import type { CommandIo } from '../command-io.ts';

/** A file that was read, and what it is called in messages. */
export interface Source {
  readonly name: string;
  readonly text: string;
}

/** Longer files are no announcement; so much is held in memory. */
const MAX_CHARACTERS = 20_000_000;

/**
 * Reads a file, or what stands at an https address.
 * @throws UsageError when the file can't be read; CliError when the address does not answer
 */
export async function readSource({ context }: CommandIo, from: string): Promise<Source> {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(from)) {
    const text = await readFile(from, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`${from} can't be read: ${error.message}`);
    });
    return { name: from, text };
  }
  if (!/^https:\/\//i.test(from)) throw new UsageError(`${from} is not https: whoever is on the way could change it`);
  const failed = (why: string, cause?: unknown) =>
    new CliError(`${from} can't be read: ${why}`, { next: 'download it, and give the file instead', cause });
  const answer = await context.fetch(from, { signal: context.interrupted }).catch((error: Error) => {
    throw failed(error.message, error);
  });
  if (!answer.ok) throw failed(`the server answers ${answer.status}`);
  const text = await answer.text();
  if (text.length > MAX_CHARACTERS) throw failed(`it has ${text.length} characters`);
  return { name: from, text };
}

/**
 * The value that a file of JSON holds.
 * @throws CliError that names the file
 */
export function parseJson({ name, text }: Source): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CliError(`${name} is no JSON: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
