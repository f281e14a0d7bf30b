import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { ROOT } from '../bootstrap/paths.mjs';
import { runCollected } from '../bootstrap/run-command.mjs';
import { fingerprint } from './fingerprint.mjs';

const FOLDER = join(ROOT, 'dist/dashboard');
const RECORD = join(FOLDER, '.built-from');
/** What a build depends on. */
const SOURCES = [
  'packages/dashboard',
  'packages/contracts/src/http',
  'packages/domain/src',
  'package-lock.json',
  'tools/build',
];
const COMPRESSIBLE = /\.(?:js|css|svg)$/;

/**
 * Builds the dashboard into `dist/dashboard`, each file also compressed, unless what is there is of these sources.
 * @returns {Promise<string | undefined>} what went wrong
 */
export async function buildDashboard() {
  const sources = fingerprint(SOURCES);
  if (existsSync(RECORD) && readFileSync(RECORD, 'utf8') === sources) return undefined;
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js');
  const env = { ...process.env, NODE_ENV: 'production' }; // started by a test, it would bundle React's development build
  const { code, output } = await runCollected(process.execPath, [vite, 'build', 'packages/dashboard'], { env });
  if (code !== 0) return output;
  const assets = join(FOLDER, 'assets');
  for (const name of readdirSync(assets).filter((it) => COMPRESSIBLE.test(it))) {
    const bytes = readFileSync(join(assets, name));
    writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }));
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes));
  }
  writeFileSync(RECORD, sources);
  return undefined;
}
