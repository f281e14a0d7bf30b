import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FileFormatError, parseYamlDocuments, type YamlPart } from '@hoodcloud/contracts/files/yaml-file';
import { type AppliedDocument, appliedDocumentSchema } from '@hoodcloud/contracts/policies/applied-document';
import { UsageError } from '../cli-error.ts';

/**
 * Every document of files and folders (their `*.yaml` and `*.yml`), in the order of their names.
 * @throws UsageError with the problems of all of them, each with file, line and field; then nothing is applied
 */
export async function readDocuments(paths: readonly string[]): Promise<YamlPart<AppliedDocument>[]> {
  const files = (await Promise.all(paths.map(filesOf))).flat();
  const parts: YamlPart<AppliedDocument>[] = [];
  const problems: string[] = [];
  for (const file of files) {
    try {
      parts.push(...parseYamlDocuments(file, await readFile(file, 'utf8'), appliedDocumentSchema));
    } catch (error) {
      if (!(error instanceof FileFormatError)) throw error;
      problems.push(...error.problems);
    }
  }
  problems.push(...twice(parts));
  if (problems.length > 0) throw new UsageError('The documents are wrong; nothing was applied.', { details: problems });
  if (parts.length === 0) throw new UsageError(`${paths.join(', ')}: there is no document in it.`);
  return parts;
}

async function filesOf(path: string): Promise<string[]> {
  const unreadable = (error: NodeJS.ErrnoException) => {
    throw new UsageError(`${path} can't be read: ${error.message}`, { next: 'hoodctl apply --help' });
  };
  const found = await stat(path).catch(unreadable);
  if (!found.isDirectory()) return [path];
  const names = await readdir(path).catch(unreadable);
  return names
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(path, name));
}

/** Documents about the same thing: which of them is meant nobody can say. */
function twice(parts: readonly YamlPart<AppliedDocument>[]): string[] {
  const first = new Map<string, string>();
  return parts.flatMap(({ at, value: { kind, name } }) => {
    const before = first.get(`${kind}/${name}`);
    if (before !== undefined) return [`${at}: ${kind}/${name} is written down already at ${before}`];
    first.set(`${kind}/${name}`, at);
    return [];
  });
}
