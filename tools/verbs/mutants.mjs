import { rmSync } from 'node:fs';
import { setUp } from '../bootstrap/set-up.mjs';
import { copyTree } from '../mutants/copy-tree.mjs';
import { readMutants } from '../mutants/read-mutant.mjs';
import { judgeMutant } from '../mutants/run-mutant.mjs';
import { TIERS } from './test/tiers.mjs';

/**
 * `mutants [name…]`: breaks one guarantee at a time in a copy of the work tree and looks whether its test notices.
 * The last line is `N killed, N survived`; ends with 0 when none survived.
 */
export async function run(names) {
  const mutants = readMutants(names);
  await setUp({ stores: mutants.some(({ tier }) => TIERS[tier]?.stores) });
  const copy = await copyTree();
  const baselines = new Map();
  let survived = 0;
  try {
    for (const mutant of mutants) {
      const started = Date.now();
      const { killed, why } = await judgeMutant(mutant, copy, baselines);
      if (!killed) survived += 1;
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(`${killed ? '✓ killed  ' : '✗ SURVIVED'} ${mutant.name} (${seconds} s)`);
      console.log(
        `    guarantee: ${mutant.guarantee}\n    test:      ${mutant.file} › ${mutant.test}\n    saw:       ${why.slice(0, 160)}`,
      );
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  console.log(`\n${mutants.length - survived} killed, ${survived} survived`);
  return survived === 0 ? 0 : 1;
}
