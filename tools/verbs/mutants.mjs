import { rmSync } from 'node:fs';
import { setUp } from '../bootstrap/set-up.mjs';
import { copyTree } from '../mutants/copy-tree.mjs';
import { readMutants } from '../mutants/read-mutant.mjs';
import { judgeMutant } from '../mutants/run-mutant.mjs';
import { prepareTier, TIERS } from './test/tiers.mjs';

/**
 * `mutants [name…]`: breaks one guarantee at a time in a copy of the work tree and looks whether its test notices.
 * The last line is `N killed, N survived`; ends with 0 when none survived. A mutant whose tier can't run on this machine is
 * left out with the reason, in CI it counts as survived.
 */
export async function run(names) {
  const mutants = readMutants(names);
  await setUp({ stores: mutants.some(({ tier }) => TIERS[tier]?.stores) });
  const refusals = await prepare(mutants);
  const copy = await copyTree();
  const baselines = new Map();
  const count = { killed: 0, survived: 0 };
  try {
    for (const mutant of mutants) {
      const refusal = refusals.get(mutant.tier);
      if (refusal) {
        console.log(`- left out ${mutant.name}: ${refusal}`);
        if (process.env.CI === 'true') count.survived += 1;
        continue;
      }
      const started = Date.now();
      const verdict = await judgeMutant(mutant, copy, baselines);
      count[verdict.killed ? 'killed' : 'survived'] += 1;
      print(mutant, verdict, (Date.now() - started) / 1000);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  console.log(`\n${count.killed} killed, ${count.survived} survived`);
  return count.survived === 0 ? 0 : 1;
}

/** @returns {Promise<Map<string, string>>} tier → why it can't run here */
async function prepare(mutants) {
  const refusals = new Map();
  for (const tier of new Set(mutants.map((mutant) => mutant.tier))) {
    if (!(tier in TIERS)) throw new Error(`There is no tier ${tier}; there are: ${Object.keys(TIERS).join(', ')}.`);
    const refusal = await prepareTier(tier);
    if (refusal) refusals.set(tier, refusal);
  }
  return refusals;
}

function print({ name, guarantee, file, test }, { killed, why }, seconds) {
  console.log(`${killed ? '✓ killed  ' : '✗ SURVIVED'} ${name} (${seconds.toFixed(1)} s)`);
  console.log(`    guarantee: ${guarantee}\n    test:      ${file} › ${test}\n    saw:       ${why.slice(0, 160)}`);
}
