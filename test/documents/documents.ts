import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** A page of Markdown that people read; `path` is seen from the root. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** A fenced block of a page; `line` is that of its first line, counted from 1. */
interface Block {
  readonly language: string;
  readonly text: string;
  readonly line: number;
}

/** Every page of the repository that is for people: those of the root and of the examples, and all of docs. */
export function pages(): Page[] {
  const root = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
  return [...root, ...below('docs'), ...below('examples')].map((path) => ({
    path,
    text: readFileSync(join(ROOT, path), 'utf8'),
  }));
}

function below(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return below(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** The fenced blocks of a page, in their order. */
export function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```([\w-]*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? '',
    text: match[2] ?? '',
    line: text.slice(0, match.index).split('\n').length + 1,
  }));
}

/** What lies between blocks: the page without them, its lines kept. */
export function proseOf(text: string): string {
  return text.replace(/^```[\w-]*\n[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, ''));
}

/** The anchors that GitHub gives a page's headings. */
export function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = [...proseOf(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
    const anchor = anchorOf(heading);
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
  return new Set(anchors);
}

function anchorOf(heading: string): string {
  const shown = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
  return shown
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}
