import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figures.ts';

/** How busy the machine was before the bench began: figures of a busy machine are worth less. */
const LOAD_AT_START = loadavg()[0];

/** A figure as it is kept in test/bench/results/NAME.json, sorted by name. */
export interface KeptFigure extends Figure {
  /** YYYY-MM-DD */
  readonly taken_on: string;
  readonly machine: string;
  /** Processes that ran or waited to run in the minute before. */
  readonly load_at_start: number;
}

/** Keeps figures of a bench; one that was kept before under the same name gives way, others stay. */
export function keepFigures(bench: string, figures: readonly Figure[], machine: string): void {
  const file = fileURLToPath(new URL(`./results/${bench}.json`, import.meta.url));
  const kept: KeptFigure[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(withFigures(kept, figures, machine), null, 2)}\n`);
}

/** What is kept once these figures were taken now. */
export function withFigures(kept: readonly KeptFigure[], figures: readonly Figure[], machine: string): KeptFigure[] {
  const told = { taken_on: new Date().toISOString().slice(0, 10), machine, load_at_start: round(LOAD_AT_START ?? 0) };
  const names = new Set(figures.map(({ name }) => name));
  const taken = figures.map((figure) => ({ ...figure, value: round(figure.value), ...told }));
  return [...kept.filter(({ name }) => !names.has(name)), ...taken].sort((one, other) =>
    one.name < other.name ? -1 : 1,
  );
}

/** Five digits: more is noise. */
export function round(value: number): number {
  return Number(value.toPrecision(5));
}
