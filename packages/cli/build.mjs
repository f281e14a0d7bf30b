import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Bundles hoodctl into one file that needs only Node. Usage: node packages/cli/build.mjs [FILE] */
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

await build({
  entryPoints: [here('src/bin/hoodctl.ts')],
  outfile: process.argv[2] ?? here('dist/hoodctl.mjs'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  legalComments: 'none',
  // CommonJS libraries inside an ES module ask for `require`
  banner: {
    js: "import { createRequire as hoodctlRequire } from 'node:module';const require = hoodctlRequire(import.meta.url);",
  },
});
