import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { faultPointFromEnvironment } from './fault-point.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-fault-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('stands still at the named point after telling it, and passes it in the next life', async () => {
  const file = join(folder, 'reached');
  const env = { HOODCLOUD_FAULT: 'before:stop_node', HOODCLOUD_FAULT_FILE: file };
  const point = faultPointFromEnvironment(env);
  await point('before:backup_state');
  let passed = false;
  void point('before:stop_node').then(() => {
    passed = true;
  });
  await expect.poll(() => readFile(file, 'utf8').catch(() => '')).toBe(`before:stop_node ${process.pid}\n`);
  expect(passed).toBe(false);
  await faultPointFromEnvironment(env)('before:stop_node');
});

it('does nothing without the variables', async () => {
  await faultPointFromEnvironment({})('before:stop_node');
});
