import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { machine } from '../bench/figures.ts';
import { type CrashCell, nameOf } from './crash-cells.ts';
import type { CrashOutcome } from './crash-lane.ts';
import type { SweepReport } from './sweep/sweep-lane.ts';

/** What `npm run test:crash` saw last of each cell; the documents are generated from it. */
export interface MatrixResults {
  /** Cells that there are. */
  readonly of: number;
  /** Seconds that the cells took, one after another as on their hosts, of which three worked side by side. */
  readonly seconds: number;
  /** Where the latest of them were run. */
  readonly machine: string;
  /** Of all runs. */
  readonly watched: Pick<Watched, 'looks' | 'doubles'>;
  /** Cell → what became of it and how many seconds it took, in the order of the matrix. */
  readonly cells: Readonly<Record<string, string>>;
}

/** What the watcher of one host has seen. */
export interface Watched {
  readonly looks: number;
  /** The most instances that were seen at once. */
  readonly most: number;
  /** Each time that two were seen. */
  readonly doubles: readonly string[];
}

/** One cell and what became of it. */
export interface Crash {
  readonly cell: CrashCell;
  /** A line for people; it begins with `broken` when a rule was, or when the cell came to no end. */
  readonly seen: string;
}

/** Puts what was seen in the place of what was seen earlier of the same cells. */
export async function keepMatrix(
  all: readonly CrashCell[],
  crashes: readonly Crash[],
  watchers: readonly Watched[],
): Promise<void> {
  const none: Pick<MatrixResults, 'cells' | 'watched'> = { cells: {}, watched: { looks: 0, doubles: [] } };
  const earlier = (await read<typeof none>('matrix')) ?? none;
  const seen = new Map(crashes.map((crash) => [nameOf(crash.cell), crash.seen]));
  const cells: Record<string, string> = {};
  for (const name of all.map(nameOf)) {
    const line = seen.get(name) ?? earlier.cells[name];
    if (line !== undefined) cells[name] = line;
  }
  const seconds = Object.values(cells).reduce((sum, line) => sum + Number(/([\d.]+) s$/.exec(line)?.[1] ?? 0), 0);
  const watched = {
    looks: watchers.reduce((sum, { looks }) => sum + looks, earlier.watched.looks),
    doubles: [...earlier.watched.doubles, ...watchers.flatMap(({ doubles }) => doubles)],
  };
  const results: MatrixResults = { of: all.length, seconds: Math.round(seconds), machine: machine(), watched, cells };
  await write('matrix', results);
}

/** What was seen last of one share of the harms to the system calls of one run; the documents sum the shares up. */
export interface SweepRow extends SweepReport {
  readonly adapter: string;
  readonly direction: string;
  /** `2/5`: the second of five shares. `1/1`: every harm. */
  readonly share: string;
}

/** Puts what was seen in the place of the same share; shares of another size than these say nothing beside them. */
export async function keepSweep(rows: readonly SweepRow[]): Promise<void> {
  const sizeOf = ({ share }: SweepRow) => share.split('/')[1];
  const keyOf = ({ adapter, direction, share }: SweepRow) => `${adapter} ${direction} ${share}`;
  const replaced = new Set(rows.map(keyOf));
  const sizes = new Set(rows.map(sizeOf));
  const earlier = (await read<readonly SweepRow[]>('system-calls')) ?? [];
  const stay = earlier.filter((row) => sizes.has(sizeOf(row)) && !replaced.has(keyOf(row)));
  await write('system-calls', [...stay, ...rows]);
}

async function read<Results>(name: string): Promise<Results | null> {
  try {
    return JSON.parse(await readFile(fileOf(name), 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Keeps results beside the tests, for `npm run generate`. */
async function write(name: string, results: object): Promise<void> {
  await mkdir(dirname(fileOf(name)), { recursive: true });
  await writeFile(fileOf(name), `${JSON.stringify(results, null, 2)}\n`);
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(`./results/${name}.json`, import.meta.url));
}

/** What is kept of a cell that came to an end. */
export function described({ host, atBoot, reported, stops, seconds, violations }: CrashOutcome): string {
  if (violations.length > 0) return `broken: ${violations.join('; ')}`;
  const boot = atBoot === null ? '' : `${atBoot} at boot, then `;
  return `${boot}${host}, ${reported}, ${stops} ${stops === 1 ? 'stop' : 'stops'}, ${seconds.toFixed(1)} s`;
}
