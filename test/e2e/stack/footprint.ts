import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** One file as an upgrade must leave it when it fails. */
export interface FileFootprint {
  readonly content: string;
  readonly mode: string;
  readonly owner: string;
  readonly modified: string;
}

/** Every file below the folders: content, mode, owner and time. A left-over of an upgrade shows as one file too many. */
export function footprintOf(...folders: string[]): Record<string, FileFootprint> {
  const entries = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  return Object.fromEntries(entries.sort().map((path) => [path, footprint(path)]));
}

function footprint(path: string): FileFootprint {
  const { mode, uid, gid, mtimeMs } = lstatSync(path);
  const kind = lstatSync(path);
  const content = kind.isSymbolicLink()
    ? readlinkSync(path)
    : kind.isFile()
      ? createHash('sha256').update(readFileSync(path)).digest('hex')
      : 'folder';
  // renames beside them touch the folders themselves
  const modified = kind.isDirectory() ? '' : String(Math.trunc(mtimeMs));
  return { content, mode: (mode & 0o7777).toString(8), owner: `${uid}:${gid}`, modified };
}
