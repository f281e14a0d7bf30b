import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../bootstrap/paths.mjs';
import { runTypeScript } from '../bootstrap/run-typescript.mjs';
import { setUp } from '../bootstrap/set-up.mjs';

const FOLDER = 'test/bench';
const SUFFIX = '.bench.ts';

/**
 * `bench [--keep] NAME [arguments]`: runs test/bench/NAME.bench.ts, which ends with one line of JSON for each figure.
 * `bench [--keep] all`: each of them at its usual size, one after another; 1 when one missed a goal or failed.
 * `--keep` keeps the figures in test/bench/results, from which docs/performance.md is written.
 */
export async function run(given) {
  const keep = given[0] === '--keep';
  const [name, ...args] = keep ? given.slice(1) : given;
  const names = readdirSync(join(ROOT, FOLDER))
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length));
  if (!name || (name !== 'all' && !names.includes(name))) {
    console.error(
      `${name ? `There is no bench ${name}. ` : ''}Usage: npm run bench -- [--keep] NAME [arguments] | all; there are: ${names.join(', ')}.`,
    );
    return 2;
  }
  await setUp({ stores: true });
  if (name !== 'all') return bench(name, args, keep);
  let worst = 0;
  for (const each of names) {
    console.log(`\n== ${each}`);
    worst = Math.max(worst, await bench(each, [], keep));
  }
  return worst;
}

async function bench(name, args, keep) {
  if (keep) process.env.HOODCLOUD_BENCH_KEEP = name;
  return runTypeScript(`${FOLDER}/${name}${SUFFIX}`, args);
}
