import { GENERATORS } from '../generate/generators.mjs';
import { isApplicable, staleFiles } from '../generate/run-generator.mjs';

/** Names the generated files that differ from what their generator writes now. */
export async function findStaleGenerated() {
  const complaints = [];
  for (const generator of GENERATORS.filter(isApplicable)) {
    for (const file of await staleFiles(generator))
      complaints.push(`${file} is stale: run npm run generate -- ${generator.name}`);
  }
  return complaints.length > 0 ? complaints.join('\n') : undefined;
}
