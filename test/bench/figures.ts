import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { keepFigures, round } from './keep-figures.ts';

/** One measured figure beside its goal. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** Left out: measured for knowledge, nothing to hold it to. */
  goal?: number;
  /** Which side of the goal is good. */
  better: 'lower' | 'higher';
  /** How it came about, e.g. { runs: 21, median_of: 'pairs' }. */
  [detail: string]: unknown;
}

/** A figure without a goal is always in order. */
export function meetsGoal({ value, goal, better }: Figure): boolean {
  if (goal === undefined) return true;
  return better === 'lower' ? value <= goal : value >= goal;
}

/**
 * Prints the figures for people, the machine they were taken on, and as last lines one JSON object a figure:
 * `{"name","value","unit","goal","ok",…}`. Sets exit code 1 when a goal is missed.
 * Keeps them under the name in HOODCLOUD_BENCH_KEEP, if there is one.
 */
export function printFigures(figures: readonly Figure[]): void {
  const width = Math.max(...figures.map(({ name }) => name.length));
  console.log('');
  for (const figure of figures) {
    const { name, value, unit, goal, better } = figure;
    const wanted =
      goal === undefined
        ? ''
        : `  goal ${better === 'lower' ? '≤' : '≥'} ${goal}  ${meetsGoal(figure) ? 'ok' : 'MISSED'}`;
    console.log(`  ${name.padEnd(width)}  ${round(value)} ${unit}${wanted}`);
  }
  console.log(`\n  ${machine()}\n`);
  for (const figure of figures) {
    const { name, value, unit, goal, ...details } = figure;
    console.log(
      JSON.stringify({ name, value: round(value), unit, goal: goal ?? null, ok: meetsGoal(figure), ...details }),
    );
  }
  const { HOODCLOUD_BENCH_KEEP: keep } = process.env;
  if (keep) keepFigures(keep, figures, machine());
  if (!figures.every(meetsGoal)) process.exitCode = 1;
}

/** The middle value; the mean of the two middle ones when they are even in number. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new Error('there is no median of no values');
  return (upper + lower) / 2;
}

/** The value below which that share of them lies, by nearest rank. @param share above 0, up to 1 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  const value = sorted[Math.ceil(sorted.length * share) - 1];
  if (value === undefined) throw new Error('there is no percentile of no values');
  return value;
}

/** Processors, memory, system and Node of this machine, a line for people. */
export function machine(): string {
  const [first, ...others] = cpus();
  const model = first?.model || processorName() || 'unknown processor';
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${others.length + 1} × ${model}, ${gigabytes} GiB, ${type()} ${release()}, Node ${process.versions.node}`;
}

/** Some virtual machines give Node no model name. */
function processorName(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  return /^(?:model name|Processor)\s*:\s*(.+)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1];
}
