import { setUp } from '../bootstrap/set-up.mjs';
import { runTier } from './test/run-tier.mjs';
import { printSummary, totals } from './test/summary.mjs';
import { prepareTier, TIERS } from './test/tiers.mjs';

/**
 * `test [tier…] [vitest arguments]`: runs the tiers one after the other and prints a table; the last line is always
 * `N passed, N failed`. In CI (CI=true) nothing may be skipped and no tier may be empty.
 */
export async function run(args) {
  const { tiers, vitestArgs, whole } = parse(args);
  await setUp({ stores: tiers.some((tier) => TIERS[tier].stores) });
  const results = [];
  for (const tier of tiers) {
    const refusal = await prepareTier(tier);
    if (refusal) {
      console.log(`\n── ${tier}: left out: ${refusal}`);
      results.push({ tier, passed: 0, failed: 0, skipped: 0, seconds: 0, refusal });
    } else {
      console.log(`\n── ${tier}: ${TIERS[tier].what}`);
      results.push(await runTier(tier, vitestArgs));
    }
  }
  const strict = process.env.CI === 'true' && whole;
  printSummary(results, { strict });
  return totals(results, { strict }).failed === 0 ? 0 : 1;
}

/** Leading words that are tiers choose them; the rest is vitest's. A filtered run is not held to "no tier is empty". */
function parse(args) {
  const firstOther = args.findIndex((word) => !(word in TIERS));
  const named = firstOther === -1 ? args : args.slice(0, firstOther);
  const rest = firstOther === -1 ? [] : args.slice(firstOther);
  const vitestArgs = rest[0] === '--' ? rest.slice(1) : rest;
  return {
    tiers: named.length > 0 ? named : Object.keys(TIERS),
    vitestArgs,
    whole: vitestArgs.length === 0,
  };
}
