import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newProgress } from './attempt-progress.ts';
import type { AttemptRecord } from './attempt-record.ts';
import { listBackups, neededBackups, pruneBackups } from './backup-retention.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hoodcloud-backups-'));
  for (const [index, name] of ['a', 'b', 'c', 'd', 'e'].entries()) {
    await mkdir(join(root, name));
    await utimes(join(root, name), 1000 + index, 1000 + index);
  }
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Backups of which only some are whole. */
const whole = (...names: string[]) => ({
  isBackedUp: async (dir: string) => names.includes(dir.slice(-1)),
  removeBackup: (dir: string) => rm(dir, { recursive: true }),
});
const ALL = whole('a', 'b', 'c', 'd', 'e');

it('lists the newest first, and folders only', async () => {
  await writeFile(join(root, 'z'), 'somebody wrote this here');
  await symlink('/', join(root, 'y'));
  expect((await listBackups(root)).map((path) => path.slice(-1))).toEqual(['e', 'd', 'c', 'b', 'a']);
  expect(await listBackups(join(root, 'no'))).toEqual([]);
});

it('keeps the last three, so that old ones never fill the disk (A13, field-case 39)', async () => {
  await pruneBackups(root, new Set(), ALL);
  expect((await readdir(root)).sort()).toEqual(['c', 'd', 'e']);
});

it('never removes one that is still needed', async () => {
  await pruneBackups(root, new Set([join(root, 'a')]), ALL);
  expect((await readdir(root)).sort()).toEqual(['a', 'c', 'd', 'e']);
});

it('keeps the newest whole one when none of the last three is whole (field-case 6)', async () => {
  await pruneBackups(root, new Set(), whole('a', 'b'));
  expect((await readdir(root)).sort()).toEqual(['b', 'c', 'd', 'e']);
});

it('keeps a whole one though the records name a folder that is gone (field-case 7)', async () => {
  await pruneBackups(root, new Set([join(root, 'vanished')]), whole('a'), 2);
  expect((await readdir(root)).sort()).toEqual(['a', 'd', 'e']);
});

it('leaves one that can’t be removed now for the next time, and goes on', async () => {
  const refusal = new Error('the engine is away');
  const stubborn = {
    ...ALL,
    removeBackup: (dir: string) => (dir.endsWith('b') ? Promise.reject(refusal) : rm(dir, { recursive: true })),
  };
  expect(await pruneBackups(root, new Set(), stubborn)).toEqual({
    removed: [join(root, 'a')],
    stayed: [{ dir: join(root, 'b'), error: refusal }],
  });
  expect((await readdir(root)).sort()).toEqual(['b', 'c', 'd', 'e']);
});

it('needs the way back, what is open, the last good one and who has a copy of its version (A13)', () => {
  const needed = neededBackups([
    attempt('n7', 7, { before: 'v3', installed: 'v7', outcome: 'failed_rollback' }),
    attempt('n6', 6, { before: 'v3', installed: 'v6', outcome: 'rolled_back' }),
    attempt('n5', 5, { before: 'v3', installed: 'v5', outcome: 'rolled_back' }),
    attempt('n4', 4, { before: 'v2', installed: 'v3', outcome: 'completed' }),
    attempt('n3', 3, { before: 'v2', installed: 'v9', outcome: 'rolled_back' }),
    attempt('n2', 2, { before: 'v1', installed: 'v2', outcome: 'completed', confirmed: true }),
    attempt('n1', 1, { before: 'v0', installed: 'v1', outcome: 'completed', confirmed: true }),
  ]);
  expect([...needed].sort()).toEqual(['n2', 'n3', 'n4', 'n7']);
});

interface Made {
  readonly before: string;
  readonly installed: string;
  readonly outcome: AttemptRecord['outcome'];
  readonly confirmed?: boolean;
}

function attempt(attemptId: string, createdAtMs: number, { before, installed, outcome, confirmed }: Made) {
  const found = { wantedRunning: true, mainPid: 1, mainPidStartedAt: 2, runningChecksum: before };
  const record: AttemptRecord = {
    format: 1,
    attemptId,
    binaryName: 'node',
    payload: {},
    before: { ...found, installedChecksum: before },
    progress: { ...newProgress(), installedChecksum: installed },
    outcome,
    operations: {},
    logTail: [],
    confirmed: confirmed ?? false,
    createdAtMs,
  };
  return record;
}
