const MOST_NAMED = 30;

/**
 * What the whole run comes to. With `strict` (CI) a skipped test, an empty tier and a tier left out each count as a failure.
 * @param {{ tier: string, passed: number, failed: number, skipped: number, refusal?: string }[]} results
 */
export function totals(results, { strict }) {
  const sum = (pick) => results.reduce((total, result) => total + pick(result), 0);
  const missing = strict ? sum((result) => result.skipped + (isEmpty(result) ? 1 : 0)) : 0;
  return { passed: sum((result) => result.passed), failed: sum((result) => result.failed) + missing, missing };
}

/** Prints one row a tier, what failed by name (a long log may be cut above it), then the line that machines read. */
export function printSummary(results, { strict }) {
  const rows = [
    ['tier', 'passed', 'failed', 'skipped', 'seconds', ''],
    ...results.map(({ tier, passed, failed, skipped, seconds, refusal, note }) => [
      ...[tier, String(passed), String(failed), refusal ? 'all' : String(skipped), seconds.toFixed(1)],
      refusal ?? note ?? '',
    ]),
  ];
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => (column === 5 ? 0 : row[column].length))));
  console.log('');
  for (const row of rows) {
    console.log(
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])))
        .join('  ')
        .trimEnd(),
    );
  }
  const failures = results.flatMap(({ tier, failures = [] }) => failures.map((line) => `  ${tier}  ${line}`));
  if (failures.length > 0) console.log(`\nFailed:\n${failures.slice(0, MOST_NAMED).join('\n')}`);
  if (failures.length > MOST_NAMED) console.log(`  and ${failures.length - MOST_NAMED} more`);
  const { passed, failed, missing } = totals(results, { strict });
  if (missing > 0)
    console.log(`\nIn CI nothing may be skipped and no tier may be empty: ${missing} counted as failed.`);
  console.log(`\n${passed} passed, ${failed} failed`);
}

function isEmpty({ passed, failed, skipped }) {
  return passed + failed + skipped === 0;
}
