import { runCollected } from '../bootstrap/run-command.mjs';
import { setUp } from '../bootstrap/set-up.mjs';

/** Where each program's one file goes. */
const FILES = { cli: 'dist/hoodctl.mjs', agent: 'dist/hoodcloud-agent.mjs' };

/** `build [cli|agent …]`: bundles programs into one file each that runs wherever Node does. */
export async function run(names) {
  const wanted = names.length > 0 ? names : Object.keys(FILES);
  const unknown = wanted.filter((name) => !(name in FILES));
  if (unknown.length > 0) {
    console.error(`There is no program ${unknown.join(', ')}; there are: ${Object.keys(FILES).join(', ')}.`);
    return 2;
  }
  await setUp();
  for (const name of wanted) {
    const { code, output } = await runCollected(process.execPath, [
      'tools/build/bundle-program.mjs',
      name,
      FILES[name],
    ]);
    if (code !== 0) {
      console.error(output.trimEnd());
      return 1;
    }
    console.log(`✓ ${FILES[name]}`);
  }
  return 0;
}
