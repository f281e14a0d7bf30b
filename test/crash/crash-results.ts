import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CrashCell, nameOf } from './crash-cells.ts';
import type { CrashOutcome } from './crash-lane.ts';

/** What `npm run test:crash` saw last of each cell; the documents are generated from it. */
export interface MatrixResults {
  /** Cells that there are. */
  readonly of: number;
  /** Seconds that the cells took, one after another as on their hosts, of which three worked side by side. */
  readonly seconds: number;
  /** Cell → what became of it and how many seconds it took, in the order of the matrix. */
  readonly cells: Readonly<Record<string, string>>;
}

/** One cell and what became of it. */
export interface Crash {
  readonly cell: CrashCell;
  readonly outcome: CrashOutcome;
}

/** Puts what was seen in the place of what was seen earlier of the same cells. */
export async function keepMatrix(all: readonly CrashCell[], crashes: readonly Crash[]): Promise<void> {
  const earlier = await earlierResults();
  const seen = new Map(crashes.map(({ cell, outcome }) => [nameOf(cell), outcome]));
  const cells: Record<string, string> = {};
  for (const name of all.map(nameOf)) {
    const outcome = seen.get(name);
    const line = outcome === undefined ? earlier.cells[name] : described(outcome);
    if (line !== undefined) cells[name] = line;
  }
  const seconds = Object.values(cells).reduce((sum, line) => sum + Number(/([\d.]+) s$/.exec(line)?.[1] ?? 0), 0);
  await writeResults('matrix', { of: all.length, seconds: Math.round(seconds), cells });
}

async function earlierResults(): Promise<MatrixResults> {
  try {
    return JSON.parse(await readFile(fileOf('matrix'), 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { of: 0, seconds: 0, cells: {} };
    throw error;
  }
}

/** Keeps results beside the tests, for `npm run generate`. */
export async function writeResults(name: 'matrix' | 'system-calls', results: object): Promise<void> {
  await mkdir(dirname(fileOf(name)), { recursive: true });
  await writeFile(fileOf(name), `${JSON.stringify(results, null, 2)}\n`);
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(`./results/${name}.json`, import.meta.url));
}

function described({ host, atBoot, reported, stops, seconds, violations }: CrashOutcome): string {
  if (violations.length > 0) return `broken: ${violations.join('; ')}`;
  const boot = atBoot === null ? '' : `${atBoot} at boot, then `;
  return `${boot}${host}, ${reported}, ${stops} ${stops === 1 ? 'stop' : 'stops'}, ${seconds.toFixed(1)} s`;
}
