import { runCollected } from '../bootstrap/run-command.mjs';
import { readMutants } from '../mutants/read-mutant.mjs';
import { readText, trackedFiles } from './tracked-files.mjs';

/** Mutants that have gone stale: their patch no longer applies, or their test is gone. Whether they are killed, `npm run mutants` tells. */
export async function findStaleMutants() {
  const complaints = [];
  const code = (await trackedFiles()).filter((name) => name.endsWith('.ts'));
  for (const { name, path, file, test } of readMutants()) {
    const source = readText(file);
    if (source === undefined) complaints.push(`${name}: there is no ${file}.`);
    else if (!mentions([source, ...packageSources(code, file)], test))
      complaints.push(`${name}: ${file} has no test "${test}".`);
    const { code: refused, output } = await runCollected('git', ['apply', '--check', '--whitespace=nowarn', path]);
    if (refused !== 0)
      complaints.push(`${name}: the patch no longer applies (${output.trim().split('\n')[0]}): make it anew.`);
  }
  return complaints.length > 0 ? complaints.join('\n') : undefined;
}

function packageSources(code, file) {
  const folder = file.split('/').slice(0, 2).join('/');
  return code.filter((name) => name.startsWith(`${folder}/`)).map((name) => readText(name) ?? '');
}

/**
 * A title made from a table (`it.each`) or from several levels can't be found as it is: a part of it must be there. One of a
 * shared suite, such as the adapters' conformance, stands in another file of the package.
 */
function mentions(sources, test) {
  const words = test.split(/\s+/);
  const parts = [test, ...words.map((_, index) => words.slice(index, index + 3).join(' '))];
  return parts.some((part) => sources.some((source) => source.includes(part)));
}
