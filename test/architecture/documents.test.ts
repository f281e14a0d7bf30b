import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const PATH_IN_CODE = /`((?:packages|tools|test|docs|deploy|examples)\/[\w./-]+)`/g;
const LINK = /\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g;

function documents(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return documents(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

const all = [
  ...readdirSync(ROOT)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(ROOT, name)),
  ...documents(join(ROOT, 'docs')),
];

/** Parts in capitals stand for a name the reader chooses: `test/mutants/NAME.patch`. */
const isPattern = (path: string) => /(?:^|\/)[A-Z]{2,}(?:\.|\/|$)/.test(path) && !/^(?:README|CHANGELOG)/.test(path);

it.each(all.map((path) => [relative(ROOT, path), path]))('%s names only files that exist', (_, path) => {
  const text = readFileSync(path, 'utf8');
  const named = [...text.matchAll(PATH_IN_CODE)].map(([, it = '']) => it).filter((it) => !isPattern(it));
  const linked = [...text.matchAll(LINK)].map(([, it = '']) => relative(ROOT, resolve(dirname(path), it)));
  expect([...named, ...linked].filter((it) => !existsSync(join(ROOT, it)))).toEqual([]);
});
