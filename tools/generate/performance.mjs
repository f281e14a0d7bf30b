// Writes docs/performance.md and its plots from test/bench/goals.yaml and what `npm run bench -- --keep` kept.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../bootstrap/paths.mjs';
import { growthPlot, seriesOf } from './growth-plot.mjs';
import { missedSections, performancePage } from './performance-page.mjs';

const RESULTS = join(ROOT, 'test/bench/results');
const PLOTS = join(ROOT, 'docs/performance');

const results = Object.fromEntries(
  readdirSync(RESULTS)
    .filter((file) => file.endsWith('.json'))
    .map((file) => [file.slice(0, -'.json'.length), JSON.parse(readFileSync(join(RESULTS, file), 'utf8'))]),
);
const { goals, plots, open } = parse(readFileSync(join(ROOT, 'test/bench/goals.yaml'), 'utf8'));

rmSync(PLOTS, { recursive: true, force: true });
mkdirSync(PLOTS, { recursive: true });
const drawn = plots.flatMap(({ title, bench, unit, series }) => {
  const lines = seriesOf(results[bench] ?? [], series);
  if (lines.length === 0) return [];
  const file = `${bench}.svg`;
  writeFileSync(join(PLOTS, file), growthPlot({ title, unit, lines }));
  return [{ title, file }];
});
writeFileSync(
  join(ROOT, 'docs/performance.md'),
  performancePage(goals, results, drawn, missedSections(goals, results), open),
);
