import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ROOT, reachableByAll, sharedCacheDir } from '../bootstrap/paths.mjs';
import { runTypeScript } from '../bootstrap/run-typescript.mjs';
import { setUp } from '../bootstrap/set-up.mjs';

/** `demo [--exit] [--report FILE] [--reset]`: the main job on a live chain; the demo itself is TypeScript. */
export async function run(args) {
  process.env.HOODCLOUD_DEMO_FOLDER ??= demoFolder();
  await setUp({ stores: true });
  return runTypeScript('tools/demo/demo.ts', args);
}

/** `.demo` in the work tree; as root, Postgres runs as a user of its own and may need a place that this user can reach. */
function demoFolder() {
  if (process.getuid?.() !== 0 || reachableByAll(ROOT)) return join(ROOT, '.demo');
  return join(sharedCacheDir(), `demo-${createHash('sha256').update(ROOT).digest('hex').slice(0, 12)}`);
}
