import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { machine } from '../bench/figures.ts';

const FOLDER = fileURLToPath(new URL('./results/', import.meta.url));

/** Keeps what a run by hand has shown, with day and machine: `npm run generate -- guarantees` writes it into the page. */
export function keepFigures(name: 'faults' | 'walk' | 'fleets' | 'model', figures: object): void {
  mkdirSync(FOLDER, { recursive: true });
  const kept = { date: new Date().toISOString().slice(0, 10), machine: machine(), ...figures };
  writeFileSync(join(FOLDER, `${name}.json`), `${JSON.stringify(kept, null, 2)}\n`);
}
