import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { anchorsOf, pages, proseOf } from '../documents/documents.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PATH_IN_CODE = /`((?:packages|tools|test|docs|deploy|examples)\/[\w./-]+)`/g;
const LINK = /(?:\]\(|(?:src|srcset|href)=")(?!https?:)([^)#"\s]*)(?:#([^)"\s]*))?[)"]/g;

/** Parts in capitals stand for a name the reader chooses: `test/mutants/NAME.patch`. */
const isPattern = (path: string) => /(?:^|\/)[A-Z]{2,}(?:\.|\/|$)/.test(path) && !/^(?:README|CHANGELOG)/.test(path);

/** Why a link leads nowhere, or null. An anchor is looked for in pages of Markdown only. */
function whyBroken(page: string, target: string, anchor: string | undefined): string | null {
  const path = target === '' ? page : relative(ROOT, resolve(ROOT, dirname(page), target));
  if (!existsSync(join(ROOT, path))) return `${path} is not there`;
  if (anchor === undefined || !path.endsWith('.md')) return null;
  return anchorsOf(readFileSync(join(ROOT, path), 'utf8')).has(anchor) ? null : `${path} has no heading #${anchor}`;
}

const all = pages().map(({ path, text }) => [path, text] as const);

it.each(all)('%s names only files that exist, and headings that are there', (path, text) => {
  const named = [...text.matchAll(PATH_IN_CODE)].map(([, it = '']) => it).filter((it) => !isPattern(it));
  const links = [...proseOf(text).matchAll(LINK)].map(([, to = '', anchor]) => whyBroken(path, to, anchor));
  expect(named.filter((it) => !existsSync(join(ROOT, it)))).toEqual([]);
  expect(links.filter((why) => why !== null)).toEqual([]);
});
