import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from '../bootstrap/paths.mjs';

const FOLDER = join(ROOT, 'test/mutants');
const FIELDS = { Guarantee: 'guarantee', Tier: 'tier', Test: 'file', Name: 'test' };

/**
 * A mutant is a patch with a header that says what it breaks and which test must notice:
 *
 *     Guarantee: undo goes in reverse order (spec, Compensation)
 *     Tier: unit
 *     Test: packages/agent/src/upgrade/executor.test.ts
 *     Name: undoes completed steps in reverse order
 *
 * `Name` is the test's own title, or its full name with the titles around it.
 * @returns {{ name: string, path: string, guarantee: string, tier: string, file: string, test: string }[]} sorted by name
 */
export function readMutants(names = []) {
  const all = readdirSync(FOLDER)
    .filter((file) => file.endsWith('.patch'))
    .sort()
    .map((file) => readMutant(join(FOLDER, file)));
  const unknown = names.filter((name) => !all.some((mutant) => mutant.name === name));
  if (unknown.length > 0) throw new Error(`There is no test/mutants/${unknown[0]}.patch.`);
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}

function readMutant(path) {
  const [header] = readFileSync(path, 'utf8').split(/^(?:diff --git|--- )/m);
  const mutant = { name: basename(path, '.patch'), path };
  for (const [label, key] of Object.entries(FIELDS)) {
    const value = new RegExp(`^${label}: *(.+)$`, 'm').exec(header)?.[1];
    if (!value) throw new Error(`${path}: the header lacks "${label}: …" before the patch.`);
    mutant[key] = value.trim();
  }
  return mutant;
}
