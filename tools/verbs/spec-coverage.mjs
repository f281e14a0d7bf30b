import { setUp } from '../bootstrap/set-up.mjs';

const TIERS = ['unit', 'db', 'workflow', 'host', 'crash', 'e2e'];

/**
 * `spec-coverage [--run [tier…]]`: every item of the specification has a test that proves it; `--run` runs those tests too.
 * Fails when an item has none, or one that is not green.
 */
export async function run(args) {
  const tiers = args[0] === '--run' ? (args.length > 1 ? args.slice(1) : TIERS) : [];
  await setUp({ stores: tiers.some((tier) => tier !== 'unit') });
  const { runProofs, specCoverage } = await import('../spec-coverage/spec-coverage.mjs'); // needs what set-up installs
  const { rows, missing, broken } = specCoverage();
  for (const complaint of broken) console.log(complaint);
  for (const { item } of missing) console.log(`no test: ${item.id}`);
  const red = tiers.length > 0 ? await runProofs(tiers) : [];
  for (const proof of red) console.log(`not green: ${proof}`);
  console.log(
    `\n${rows.length} items, ${rows.length - missing.length} with a test, ${missing.length} without; ${red.length} red`,
  );
  return missing.length + broken.length + red.length === 0 ? 0 : 1;
}
