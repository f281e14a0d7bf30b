import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** One import or re-export as it stands in a file. */
export interface Import {
  /** The importing file, relative to the root, with `/`. */
  file: string;
  line: number;
  specifier: string;
  /** `import type` and `export type … from` vanish when run; everything else loads the module. */
  typeOnly: boolean;
}

const STATIC =
  /^[ \t]*(?:import|export)\s+(?<type>type\s+)?(?:(?:[\w*$\s,]|\{[^}]*\})*?\sfrom\s+)?['"](?<specifier>[^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"](?<specifier>[^'"]+)['"]/g;
const SOURCE = /\.(?:ts|tsx|mts)$/;
const LEFT_OUT = new Set(['node_modules', 'gen', 'generated', 'dist']);

/** All imports of the TypeScript files below `folders`, which are relative to `root`. */
export function readImports(root: string, folders: readonly string[]): Import[] {
  return folders.flatMap((folder) => sourceFiles(join(root, folder)).flatMap((path) => importsOf(root, path)));
}

/** Paths of all TypeScript files below `folder`, none when it doesn't exist. */
export function sourceFiles(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: false });
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (LEFT_OUT.has(entry.name)) return [];
    if (entry.isDirectory() || (entry.isSymbolicLink() && statSync(path).isDirectory())) return sourceFiles(path);
    return SOURCE.test(entry.name) && !entry.name.endsWith('.d.ts') ? [path] : [];
  });
}

function importsOf(root: string, path: string): Import[] {
  const text = readFileSync(path, 'utf8');
  const file = relative(root, path).split(sep).join('/');
  return [...text.matchAll(STATIC), ...text.matchAll(DYNAMIC)].map((match) => ({
    file,
    line: text.slice(0, match.index).split('\n').length,
    specifier: match.groups?.specifier ?? '',
    typeOnly: Boolean(match.groups?.type),
  }));
}
