import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from '../bootstrap/paths.mjs';
import { engineClientOnly } from './engine-client.mjs';
import { withoutInkTools } from './ink-tools.mjs';

/** What is shipped as one file: where each program begins. */
const ENTRIES = {
  cli: 'packages/cli/src/bin/hoodctl.ts',
  agent: 'packages/agent/src/bin/hoodcloud-agent.ts',
};

// Usage: node tools/build/bundle-program.mjs cli|agent|SOURCE FILE
const [name, file] = process.argv.slice(2);
await build({
  entryPoints: [name in ENTRIES ? join(ROOT, ENTRIES[name]) : resolve(name)],
  outfile: resolve(file),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  legalComments: 'none',
  logLevel: 'warning',
  plugins: [engineClientOnly, withoutInkTools],
  // the terminal view's React without its warnings
  ...(name === 'cli' && { define: { 'process.env.NODE_ENV': '"production"' } }),
  jsx: 'automatic',
  // CommonJS libraries inside an ES module ask for `require`; the other name is one that no library has
  banner: {
    js: "import { createRequire as hoodcloudRequire } from 'node:module'; const require = hoodcloudRequire(import.meta.url);",
  },
});
