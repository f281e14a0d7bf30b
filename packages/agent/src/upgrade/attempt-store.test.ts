import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newProgress } from './attempt-progress.ts';
import type { AttemptRecord } from './attempt-record.ts';
import { AttemptStore } from './attempt-store.ts';

let folder: string;
let store: AttemptStore;
let unreadable: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-store-'));
  unreadable = [];
  store = await AttemptStore.open(folder, (path) => unreadable.push(path));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function record(attemptId: string, changes: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    format: 1,
    attemptId,
    binaryName: 'node',
    payload: {},
    before: { wantedRunning: true, mainPid: 1, mainPidStartedAt: 2, installedChecksum: null, runningChecksum: null },
    progress: newProgress(),
    outcome: 'completed',
    operations: { UPGRADE: { commandId: attemptId, deadlineAtMs: 1, result: {}, acknowledged: true } },
    logTail: [],
    confirmed: false,
    createdAtMs: 1,
    ...changes,
  };
}

it('gives back what was saved, to a later life of the agent too', async () => {
  await store.save(record('a'));
  expect(await store.load('a')).toEqual(record('a'));
  expect(await (await AttemptStore.open(folder, () => undefined)).load('a')).toEqual(record('a'));
  expect(await store.load('b')).toBeNull();
});

it('lets only the agent read records: they hold rendered configs', async () => {
  await store.save(record('a'));
  expect((await stat(join(folder, 'attempts', 'a.json'))).mode & 0o777).toBe(0o600);
});

it('writes one record at a time, the last one last', async () => {
  const writes = Array.from({ length: 30 }, (_, index) => store.save(record('a', { createdAtMs: index })));
  await Promise.all(writes);
  expect((await store.load('a'))?.createdAtMs).toBe(29);
  expect(await readdir(join(folder, 'attempts'))).toEqual(['a.json']);
});

it.each(['', '{"format":1,"attempt', '{"format":2}', 'null', '[]'])(
  'sets aside a record that reads %j, keeps it, and goes on (A4, field-cases 1, 17)',
  async (content) => {
    await store.save(record('good'));
    await writeFile(join(folder, 'attempts', 'bad.json'), content);
    expect(await store.load('bad')).toBeNull();
    expect((await store.list()).map(({ attemptId }) => attemptId)).toEqual(['good']);
    expect(unreadable).toHaveLength(1);
    expect(await readFile(unreadable[0] ?? '', 'utf8')).toBe(content);
  },
);

it('leaves no tail of a longer record behind a shorter one (field-case 4)', async () => {
  await store.save(record('a', { logTail: ['x'.repeat(100_000)] }));
  await store.save(record('a'));
  expect(await store.load('a')).toEqual(record('a'));
  expect(unreadable).toEqual([]);
});

it('lets one who only looks see a damaged record, and moves nothing', async () => {
  await store.save(record('good'));
  await writeFile(join(folder, 'attempts', 'bad.json'), '{');
  const seen: string[] = [];
  const looking = AttemptStore.look(folder, (path) => seen.push(path));
  expect((await looking.list()).map(({ attemptId }) => attemptId)).toEqual(['good']);
  expect(seen).toEqual([join(folder, 'attempts', 'bad.json')]);
  expect((await readdir(join(folder, 'attempts'))).sort()).toEqual(['bad.json', 'good.json']);
  expect(await AttemptStore.look(join(folder, 'nowhere'), () => undefined).list()).toEqual([]);
});

it('goes on with nothing that an earlier membership left open (field-case 13)', async () => {
  const operation = { commandId: 'x', deadlineAtMs: 1, result: null, acknowledged: false };
  await store.save(record('open', { outcome: null, operations: { UPGRADE: operation } }));
  await store.save(record('ended'));
  expect(await store.setOpenAside()).toEqual(['open']);
  expect((await store.list()).map(({ attemptId }) => attemptId)).toEqual(['ended']);
  expect(await readdir(join(folder, 'attempts'))).toContainEqual(expect.stringMatching(/^open\.json\.left-\d+$/));
});

it('lists the newest first', async () => {
  await store.save(record('a', { createdAtMs: 1 }));
  await store.save(record('b', { createdAtMs: 2 }));
  expect((await store.list()).map(({ attemptId }) => attemptId)).toEqual(['b', 'a']);
});

it('forgets old attempts, but none that is open, not acknowledged or the last good one', async () => {
  for (let index = 0; index < 30; index++) await store.save(record(`n${index}`, { createdAtMs: 100 + index }));
  const operation = { commandId: 'x', deadlineAtMs: 1, result: null, acknowledged: false };
  await store.save(record('open', { outcome: null, operations: { UPGRADE: operation } }));
  await store.save(record('untold', { operations: { UPGRADE: { ...operation, result: {} } } }));
  await store.save(record('good', { confirmed: true }));
  await store.save(record('other', { binaryName: 'other' }));
  await store.prune('node');
  const left = (await store.list()).map(({ attemptId }) => attemptId);
  expect(left).toHaveLength(24);
  expect(left).toEqual(expect.arrayContaining(['n29', 'n10', 'open', 'untold', 'good', 'other']));
});
