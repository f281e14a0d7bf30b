import { runCollected } from '../bootstrap/run-command.mjs';
import { readMutants } from '../mutants/read-mutant.mjs';
import { readText } from './tracked-files.mjs';

/** Mutants that have gone stale: their patch no longer applies, or their test is gone. Whether they are killed, `npm run mutants` tells. */
export async function findStaleMutants() {
  const complaints = [];
  for (const { name, path, file, test } of readMutants()) {
    const source = readText(file);
    if (source === undefined) complaints.push(`${name}: there is no ${file}.`);
    else if (!mentions(source, test)) complaints.push(`${name}: ${file} has no test "${test}".`);
    const { code, output } = await runCollected('git', ['apply', '--check', '--whitespace=nowarn', path]);
    if (code !== 0)
      complaints.push(`${name}: the patch no longer applies (${output.trim().split('\n')[0]}): make it anew.`);
  }
  return complaints.length > 0 ? complaints.join('\n') : undefined;
}

/** A title made from a table (`it.each`) or from several levels can't be found as it is: its longest plain part counts. */
function mentions(source, test) {
  if (source.includes(test)) return true;
  const words = test.split(/\s+/);
  return words.some((_, index) => source.includes(words.slice(index, index + 3).join(' ')));
}
