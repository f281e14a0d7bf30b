import { setUp } from '../bootstrap/set-up.mjs';
import { step } from '../bootstrap/step.mjs';
import { GENERATORS } from '../generate/generators.mjs';
import { isApplicable, runGenerator } from '../generate/run-generator.mjs';

/** `generate [name…]`: writes the generated files anew, all or the named ones. */
export async function run(names) {
  const unknown = names.filter((name) => !GENERATORS.some((generator) => generator.name === name));
  if (unknown.length > 0) {
    console.error(
      `No generator is called ${unknown.join(', ')}; there are: ${GENERATORS.map(({ name }) => name).join(', ')}.`,
    );
    return 2;
  }
  const chosen = GENERATORS.filter(({ name }) => names.length === 0 || names.includes(name)).filter(isApplicable);
  await setUp({ stores: chosen.some(({ stores }) => stores) });
  for (const generator of chosen) {
    await step(`${generator.name} → ${generator.outputs.join(', ')}`, '1-10 s', () => runGenerator(generator));
  }
  return 0;
}
