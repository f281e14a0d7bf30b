import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Bundles the agent into one file that needs only Node: dist/hoodcloud-agent.mjs. */
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

await build({
  entryPoints: [here('src/bin/hoodcloud-agent.ts')],
  outfile: process.argv[2] ?? here('dist/hoodcloud-agent.mjs'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  legalComments: 'none',
  // CommonJS libraries inside an ES module ask for `require`
  banner: {
    js: "import { createRequire as hoodcloudRequire } from 'node:module';const require = hoodcloudRequire(import.meta.url);",
  },
});
