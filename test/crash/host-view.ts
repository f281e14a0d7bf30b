import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { extendedAttributesOf } from '@hoodcloud/agent/host/extended-attributes';
import { checksumOf } from '@hoodcloud/agent/host/file-hash';
import { SERVICE } from './small-service.ts';

/** One living process that was started from the service's executable. */
export interface Instance {
  readonly pid: number;
  /** `sha256:<hex>` of what it runs, which may have another name, or none, by now. */
  readonly executable: string;
  /** What a daemon-reload brought to it; null where nothing does. */
  readonly version: string | null;
}

/** Path → one line that says all that an upgrade must keep: kind, mode, owner, content or target. */
export type Snapshot = Readonly<Record<string, string>>;

/** Where anything of an upgrade could be left: everything but what every boot or every second changes. */
const FOLDERS = ['/etc', '/opt', '/root', '/home', '/srv', '/usr/local', '/var', '/run/systemd/system'];
const CHANGING = [
  /^\/var\/(log|cache|tmp|run|lock)(\/|$)/,
  /^\/var\/lib\/(systemd|dbus|docker|containerd)(\/|$)/,
  /^\/srv\/small(\/|$)/, // what is in it is mounted elsewhere
];
/** The agent's own memory: it grows by design. Its names are judged by `leftovers`. */
const AGENT = /^\/(var\/lib\/hoodcloud|var\/lib\/app\/\.upgrade-backup|opt\/hoodcloud|etc\/hoodcloud|var\/lib\/fault)/;
const LEFTOVER = /\.download-|hoodcloud-tmp|\.part$|zzzz-hoodcloud|\/hold(\/.+)?$|\.unreadable-/;

const IN_BACKUP = /^(\/var\/lib\/app\/\.upgrade-backup\/[^/]+)\//;

/** Looks at a running host from outside, through its first process: no command runs in it. */
export class HostView {
  /** The host's file system, mounts and /proc included. */
  readonly root: string;
  /** Lines of files that have not changed since: any change of a file moves its ctime. */
  readonly #known = new Map<string, { readonly stamp: string; readonly line: string }>();

  constructor(initPid: number) {
    this.root = `/proc/${initPid}/root`;
  }

  read(path: string): Promise<string> {
    return readFile(join(this.root, path), 'utf8');
  }

  /** Processes whose executable was started from the service's path. */
  async instances(): Promise<Instance[]> {
    const pids = (await readdir(join(this.root, 'proc'))).filter((name) => /^\d+$/.test(name));
    const found = await Promise.all(pids.map((pid) => this.#instance(pid)));
    return found.filter((instance) => instance !== null);
  }

  /** Every file outside the agent's own memory. */
  async snapshot(): Promise<Snapshot> {
    const lines = await this.#walk((path) => !AGENT.test(path));
    return Object.fromEntries(lines);
  }

  /** Temporary files, downloads, holds and drop-ins of an upgrade under way, wherever they are. */
  async leftovers(): Promise<string[]> {
    return leftoversAmong(await this.#walk(() => true));
  }

  async #instance(pid: string): Promise<Instance | null> {
    const folder = join(this.root, 'proc', pid);
    try {
      const exe = await readlink(join(folder, 'exe'));
      if (exe !== SERVICE.binary && exe !== `${SERVICE.binary} (deleted)`) return null;
      const environment = (await readFile(join(folder, 'environ'), 'utf8')).split('\0');
      const version = environment.find((entry) => entry.startsWith('APP_VERSION='))?.split('=')[1] ?? null;
      return { pid: Number(pid), executable: checksumOf(await readFile(join(folder, 'exe'))), version };
    } catch (error) {
      if (isGone(error)) return null; // it ended between two looks at it, or is the kernel's own
      throw error;
    }
  }

  async #line(path: string, stats: BigIntStats): Promise<string> {
    const stamp = `${stats.dev} ${stats.ino} ${stats.size} ${stats.ctimeNs}`;
    const known = this.#known.get(path);
    if (known?.stamp === stamp) return known.line;
    const line = `${await lineOf(path, stats)}${await this.#extended(path)}`;
    this.#known.set(path, { stamp, line });
    return line;
  }

  /** Capabilities and attributes of what an upgrade replaces; to ask for those of every file would take too long. */
  async #extended(path: string): Promise<string> {
    if (path !== join(this.root, SERVICE.binary) && path !== join(this.root, SERVICE.config)) return '';
    const { names, checksum } = await extendedAttributesOf(path);
    return ` ${names.join(' ')} ${checksum.slice(0, 23)}`;
  }

  async #walk(isWanted: (path: string) => boolean): Promise<[string, string][]> {
    const found: [string, string][] = [];
    const visit = async (path: string): Promise<void> => {
      if (CHANGING.some((pattern) => pattern.test(path)) || !isWanted(path)) return;
      const inside = join(this.root, path);
      try {
        const stats = await lstat(inside, { bigint: true });
        // an empty folder for drop-ins is in memory only and says nothing
        if (!path.startsWith('/run/') || !stats.isDirectory()) found.push([path, await this.#line(inside, stats)]);
        if (stats.isDirectory()) for (const name of await readdir(inside)) await visit(join(path, name));
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    };
    for (const folder of FOLDERS) await visit(folder);
    return found.sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

async function lineOf(path: string, stats: BigIntStats): Promise<string> {
  const attributes = `${(stats.mode & 0o7777n).toString(8)} ${stats.uid}:${stats.gid}`;
  if (stats.isSymbolicLink()) return `link to ${await readlink(path)}`;
  if (stats.isDirectory()) return `folder ${attributes}`;
  if (!stats.isFile()) return `special ${attributes}`;
  const content = createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
    .slice(0, 16);
  return `file ${attributes} ${content}`;
}

function isGone(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return ['ENOENT', 'ESRCH', 'EACCES'].includes(code);
}

/**
 * What is left over of an upgrade that has ended, among paths and their lines. A backup without its manifest was never
 * finished: the backups' retention takes it whole, and a disk that became read-only kept the manifest's temporary file in it.
 */
export function leftoversAmong(lines: readonly (readonly [path: string, line: string])[]): string[] {
  const paths = new Set(lines.map(([path]) => path));
  const goesWithItsBackup = (path: string) => {
    const backup = IN_BACKUP.exec(path)?.[1];
    return backup !== undefined && !paths.has(join(backup, 'manifest.json'));
  };
  return lines
    .filter(([path, line]) => LEFTOVER.test(path) && !line.startsWith('folder') && !goesWithItsBackup(path))
    .map(([path]) => path);
}

/** What differs between two snapshots, a sentence a path. */
export function differences(before: Snapshot, after: Snapshot): string[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return paths
    .filter((path) => before[path] !== after[path])
    .map((path) => `${path}: ${before[path] ?? 'absent'}, then ${after[path] ?? 'absent'}`);
}
