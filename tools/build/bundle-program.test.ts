import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundledProgram } from '@hoodcloud/testkit/bundled-program';
import { expect, it } from 'vitest';

it.each([
  ['cli', 'hoodctl'],
  ['agent', 'hoodcloud-agent'],
])('the one file of %s runs with nothing beside it', { timeout: 60_000 }, async (program, name) => {
  const folder = await mkdtemp(join(tmpdir(), 'hoodcloud-one-file-'));
  try {
    await writeFile(join(folder, 'program.mjs'), await bundledProgram(program));
    const { stdout } = await promisify(execFile)(process.execPath, ['program.mjs', '--help'], { cwd: folder });
    expect(stdout).toContain(`Usage: ${name}`);
  } finally {
    await rm(folder, { recursive: true });
  }
});
