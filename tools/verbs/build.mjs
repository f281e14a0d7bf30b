import { runCollected } from '../bootstrap/run-command.mjs';
import { setUp } from '../bootstrap/set-up.mjs';

/** What is shipped as one file: who bundles it, and where it goes. */
const PROGRAMS = {
  cli: { by: 'packages/cli/build.mjs', file: 'dist/hoodctl.mjs' },
  agent: { by: 'packages/agent/build.mjs', file: 'dist/hoodcloud-agent.mjs' },
};

/** `build [cli|agent …]`: bundles programs into one file each that runs wherever Node does. */
export async function run(names) {
  const wanted = names.length > 0 ? names : Object.keys(PROGRAMS);
  const unknown = wanted.filter((name) => !(name in PROGRAMS));
  if (unknown.length > 0) {
    console.error(`There is no program ${unknown.join(', ')}; there are: ${Object.keys(PROGRAMS).join(', ')}.`);
    return 2;
  }
  await setUp();
  for (const name of wanted) {
    const { by, file } = PROGRAMS[name];
    const { code, output } = await runCollected(process.execPath, [by, file]);
    if (code !== 0) {
      console.error(output.trimEnd());
      return 1;
    }
    console.log(`✓ ${file}`);
  }
  return 0;
}
