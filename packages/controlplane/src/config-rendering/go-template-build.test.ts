import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { buildGoTemplate } from '../../../../tools/go-template/build.mjs';

function hasGo(): boolean {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

// Without Go nothing can be rebuilt; CI has Go, and there a missing one fails the build below.
const skip = !process.env.CI && !hasGo();

it.skipIf(skip)(
  'go-template.wasm.gz is what its Go source builds to, byte for byte',
  { timeout: 600_000 },
  async () => {
    const checkedIn = await readFile(new URL('./go-template.wasm.gz', import.meta.url));
    expect(gunzipSync(buildGoTemplate()).equals(gunzipSync(checkedIn))).toBe(true);
  },
);
