/**
 * Builds go-template.wasm.gz, the real Go text/template for Node (decision E1). The same Go version gives the same bytes
 * on every machine, and a test proves it. Usage: node tools/go-template/build.mjs
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const OUTPUT = join(FOLDER, '../../packages/controlplane/src/config-rendering/go-template.wasm.gz');
/** Another version makes other bytes; a newer Go fetches this one by itself. */
const TOOLCHAIN = 'go1.26.8';

/** Builds the program and returns it gzipped, without a time stamp. */
export function buildGoTemplate() {
  const folder = mkdtempSync(join(tmpdir(), 'go-template-'));
  const wasm = join(folder, 'go-template.wasm');
  try {
    execFileSync('go', ['build', '-trimpath', '-buildvcs=false', '-ldflags=-s -w -buildid=', '-o', wasm, '.'], {
      cwd: FOLDER,
      env: { ...process.env, GOOS: 'wasip1', GOARCH: 'wasm', GOFLAGS: '', GOTOOLCHAIN: TOOLCHAIN },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    return gzipSync(readFileSync(wasm), { level: 9 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(OUTPUT, buildGoTemplate());
