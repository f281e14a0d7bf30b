import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './paths.mjs';

const STATIC = /^(?:import|export)\b[^'"]*?\bfrom '([^']+)'|^import '([^']+)'/gm;

/** Every file that is read before a verb's first line runs. */
function readAtStart(entry: string, seen = new Map<string, string[]>()): Map<string, string[]> {
  if (seen.has(entry)) return seen;
  const imports = [...readFileSync(entry, 'utf8').matchAll(STATIC)].map(([, from, alone]) => from ?? alone ?? '');
  seen.set(
    entry,
    imports.filter((name) => !name.startsWith('.') && !name.startsWith('node:')),
  );
  for (const name of imports.filter((one) => one.startsWith('.'))) readAtStart(resolve(dirname(entry), name), seen);
  return seen;
}

const VERBS = readdirSync(join(ROOT, 'tools/verbs')).filter((name) => name.endsWith('.mjs'));

it.each(VERBS)('%s starts in a fresh clone, where nothing is installed yet (ADR 0008)', (verb) => {
  const files = readAtStart(join(ROOT, 'tools/verbs', verb));
  const libraries = [...files].flatMap(([file, names]) => names.map((name) => `${relative(ROOT, file)}: ${name}`));
  expect(libraries).toEqual([]);
});
