import { runTypeScript } from '../bootstrap/run-typescript.mjs';
import { setUp } from '../bootstrap/set-up.mjs';

/** `demo [--exit] [--report FILE]`: the main job on a live chain; the demo itself is TypeScript. */
export async function run(args) {
  await setUp({ stores: true });
  return runTypeScript('tools/demo/demo.ts', args);
}
