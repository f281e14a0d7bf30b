import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { faultPointFromEnvironment } from './fault-point.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-fault-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const PROGRAM = `
  const { faultPointFromEnvironment } = await import(${JSON.stringify(new URL('./fault-point.ts', import.meta.url).href)});
  const point = faultPointFromEnvironment(process.env);
  await point('before:backup_state');
  await point('before:stop_node');
  console.log('went on');
`;

it('stops its process at the named point after telling it, and passes it when it goes on and in the next life', async () => {
  const file = join(folder, 'reached');
  const fault = { HOODCLOUD_FAULT: 'before:stop_node', HOODCLOUD_FAULT_FILE: file };
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', PROGRAM], {
    env: { ...process.env, ...fault },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const state = async () => (await readFile(`/proc/${child.pid}/stat`, 'utf8')).split(') ').at(-1)?.[0];
    await vi.waitFor(async () => expect(await state()).toBe('T'), 30_000);
    expect(await readFile(file, 'utf8')).toBe(`before:stop_node ${child.pid}\n`);
    child.kill('SIGCONT');
    const [said] = await once(child.stdout, 'data');
    expect(String(said)).toBe('went on\n');
  } finally {
    child.kill('SIGKILL');
  }
  await faultPointFromEnvironment(fault)('before:stop_node'); // it would stop this very process
});

it('does nothing without the variables', async () => {
  await faultPointFromEnvironment({})('before:stop_node');
});
