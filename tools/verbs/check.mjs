import { setUp } from '../bootstrap/set-up.mjs';
import { CHECKS } from '../checks/checks.mjs';

/** `check [name…]`: everything that can be judged without running the product. Every check runs, then the verdict. */
export async function run(names) {
  const chosen = CHECKS.filter(({ name }) => names.length === 0 || names.includes(name));
  if (chosen.length === 0) {
    console.error(`There is no such check; there are: ${CHECKS.map(({ name }) => name).join(', ')}.`);
    return 2;
  }
  await setUp({ stores: chosen.some(({ stores }) => stores) });
  let red = 0;
  for (const { name, what, find } of chosen) {
    const started = Date.now();
    const complaint = await find();
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    console.log(`${complaint ? '✗' : '✓'} ${name.padEnd(14)} ${what} (${seconds} s)`);
    if (!complaint) continue;
    red += 1;
    console.log(`${complaint.trimEnd().replace(/^/gm, '    ')}\n`);
  }
  console.log(`\n${chosen.length - red} checks passed, ${red} failed`);
  return red === 0 ? 0 : 1;
}
