import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../bootstrap/paths.mjs';
import { runTypeScript } from '../bootstrap/run-typescript.mjs';
import { setUp } from '../bootstrap/set-up.mjs';

const FOLDER = 'test/bench';
const SUFFIX = '.bench.ts';

/** `bench NAME [arguments]`: runs test/bench/NAME.bench.ts, which ends with one line of JSON for each figure. */
export async function run([name, ...args]) {
  const names = readdirSync(join(ROOT, FOLDER))
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length));
  if (!name || !names.includes(name)) {
    console.error(
      `${name ? `There is no bench ${name}. ` : ''}Usage: npm run bench -- NAME; there are: ${names.join(', ') || 'none yet'}.`,
    );
    return 2;
  }
  await setUp({ stores: true });
  return runTypeScript(`${FOLDER}/${name}${SUFFIX}`, args);
}
