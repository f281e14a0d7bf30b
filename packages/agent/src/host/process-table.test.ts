import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FileHashes, hashFile } from './file-hash.ts';
import { ageMs, executableOf, isAlive, readProcess, runningChecksumOf } from './process-table.ts';

let folder: string;
let child: ChildProcess;
let pid: number;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud proc) S 1 '));
  await copyFile('/bin/sleep', join(folder, 'no) de'));
  child = spawn(join(folder, 'no) de'), ['600'], { stdio: 'ignore' });
  await once(child, 'spawn');
  pid = child.pid ?? 0;
});
afterEach(async () => {
  child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

it('reads a process whose name has spaces and parentheses', async () => {
  const entry = await readProcess(pid);
  expect(entry).toMatchObject({ pid, zombie: false });
  expect(entry?.startedAt).toBeGreaterThan(0);
  expect(await ageMs({ pid, startedAt: entry?.startedAt ?? 0 })).toBeLessThan(60_000);
});

it('takes another start time for another process: pids are used again (A7)', async () => {
  const entry = await readProcess(pid);
  expect(await isAlive({ pid, startedAt: entry?.startedAt ?? 0 })).toBe(true);
  expect(await isAlive({ pid, startedAt: (entry?.startedAt ?? 0) + 1 })).toBe(false);
});

it('takes a zombie for dead', async () => {
  // a parent that never takes note of its child's end
  const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 600'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const zombie = Number(line.toString());
  await expect.poll(async () => (await readProcess(zombie))?.zombie).toBe(true);
  const entry = await readProcess(zombie);
  expect(await isAlive({ pid: zombie, startedAt: entry?.startedAt ?? 0 })).toBe(false);
  parent.kill('SIGKILL');
});

it('knows what runs after the file was replaced (A6)', async () => {
  const path = join(folder, 'no) de');
  const running = await hashFile(path);
  await rm(path);
  await writeFile(path, 'the new version');
  const hashes = new FileHashes();
  expect(await runningChecksumOf([pid], path, hashes)).toBe(running);
  expect(await executableOf(pid)).toBe(path);
  expect(await hashes.of(path)).not.toBe(running);
});

it('looks past a wrapper to the process that runs the artifact (A6)', async () => {
  const path = join(folder, 'no) de');
  const checksum = await runningChecksumOf([process.pid, pid], path, new FileHashes());
  expect(checksum).toBe(await hashFile(path));
});

it('says nothing runs when the process has gone', async () => {
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await readProcess(pid)).toBeNull();
  expect(await runningChecksumOf([pid], '/x', new FileHashes())).toBeNull();
});
