import { join } from 'node:path';
import { ROOT } from '../bootstrap/paths.mjs';
import { setUp } from '../bootstrap/set-up.mjs';

/** What is shipped as one file: a name, where it begins, where it goes. */
const PROGRAMS = {
  cli: { entry: 'packages/cli/src/bin/hoodctl.ts', file: 'dist/hoodctl.mjs' },
  agent: { entry: 'packages/agent/src/bin/hoodcloud-agent.ts', file: 'dist/hoodcloud-agent.mjs' },
};

/** Libraries that are CommonJS ask for Node's modules by `require`, which an ES module has to bring. */
const REQUIRE =
  "import { createRequire as hoodcloudRequire } from 'node:module'; const require = hoodcloudRequire(import.meta.url);";

/** `build [cli|agent …]`: bundles programs into one file each that runs wherever Node does. */
export async function run(names) {
  const wanted = names.length > 0 ? names : Object.keys(PROGRAMS);
  const unknown = wanted.filter((name) => !(name in PROGRAMS));
  if (unknown.length > 0) {
    console.error(`There is no program ${unknown.join(', ')}; there are: ${Object.keys(PROGRAMS).join(', ')}.`);
    return 2;
  }
  await setUp();
  const { build } = await import('esbuild');
  for (const name of wanted) {
    const { entry, file } = PROGRAMS[name];
    await build({
      entryPoints: [join(ROOT, entry)],
      outfile: join(ROOT, file),
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'esm',
      banner: { js: REQUIRE },
      logLevel: 'warning',
    });
    console.log(`✓ ${file}`);
  }
  return 0;
}
