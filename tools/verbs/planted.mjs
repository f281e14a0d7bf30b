import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../bootstrap/paths.mjs';
import { runCollected } from '../bootstrap/run-command.mjs';
import { setUp } from '../bootstrap/set-up.mjs';
import { copyTree } from '../mutants/copy-tree.mjs';
import { readMutants } from '../mutants/read-mutant.mjs';

/** Mutants of different kinds: an order of batches, a control that must hold, a way that must come to an end. */
const PLANTED = ['batches-overlap', 'pause-forgotten', 'pause-never-lifted'];
/** Who must find each of them, and what it prints that says so. */
const FINDERS = {
  walk: ['node_modules/.bin/tsx', 'test/simulation/simulate.ts', '--walk'],
  simulation: ['node_modules/.bin/tsx', 'test/simulation/simulate.ts', '--seed', '7', '--steps', '1000000'],
  model: ['node_modules/.bin/vitest', 'run', '--project', 'workflow', 'test/model'],
};
const SEEN = /(?:(?<!Caused )\b[a-z_]+: [A-Z][^\n]*? Seen: |[^\n]*came to no end|[^\n]*can not be resumed)[^\n]{0,40}/;
const MODEL_SECONDS = '300';

const RESULTS = join(ROOT, 'test/proofs/results/planted.json');

/**
 * `planted [walk] [simulation] [model] [mutant…]`: plants a bug at a time in a copy of the work tree and takes how long each
 * finder needs to find it. What is kept of those that are not named stays.
 */
export async function run(names) {
  const chosen = (all) => all.filter((one) => names.includes(one) || !all.some((other) => names.includes(other)));
  const [finders, bugs] = [chosen(Object.keys(FINDERS)), chosen(PLANTED)];
  await setUp({ stores: true });
  const copy = await copyTree();
  const kept = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : [];
  const found = kept.filter(
    ({ finder, bug }) => !(finders.includes(finder) && bugs.includes(bug)) && PLANTED.includes(bug),
  );
  try {
    for (const mutant of readMutants(bugs)) {
      await patch(copy, mutant.path);
      for (const finder of finders) found.push(await find(copy, mutant, finder, FINDERS[finder]));
      await patch(copy, mutant.path, '-R');
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  writeFileSync(RESULTS, `${JSON.stringify(found, null, 2)}\n`);
  return found.every(({ said }) => said !== null) ? 0 : 1;
}

async function patch(copy, path, ...how) {
  const { code, output } = await runCollected('git', ['apply', ...how, '--whitespace=nowarn', path], { cwd: copy });
  if (code !== 0) throw new Error(`${path} does not apply:\n${output}`);
}

/** @returns {Promise<{ bug: string, guarantee: string, finder: string, seconds: number, said: string | null }>} null: not found */
async function find(copy, { name, guarantee }, finder, [program, ...args]) {
  const began = Date.now();
  const env = { ...process.env, NO_COLOR: '1', HOODCLOUD_MODEL_SEED: '1', HOODCLOUD_MODEL_SECONDS: MODEL_SECONDS };
  const { code, output } = await runCollected(join(copy, program), args, { cwd: copy, env });
  const seconds = Math.round((Date.now() - began) / 100) / 10;
  const said = code === 0 ? null : (SEEN.exec(output)?.[0] ?? null);
  console.log(`${name}: ${finder} ${said === null ? 'found nothing' : `said "${said}"`} after ${seconds} s`);
  if (said === null) console.log(output.slice(-3000));
  return { bug: name, guarantee, finder, seconds, said };
}
