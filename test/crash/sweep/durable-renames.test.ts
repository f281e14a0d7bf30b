import { expect, it } from 'vitest';
import { diskChangeOf } from './disk-change.ts';
import { lostByPowerCut } from './durable-renames.ts';
import { parseStraceLog } from './strace-log.ts';

/** A replacement as the agent makes it, with the lines of its log by name, so that one can be left out. */
const REPLACEMENT = {
  open: '10 openat(AT_FDCWD</>, "/etc/app/.app.conf.tmp", O_WRONLY|O_CREAT|O_EXCL|O_CLOEXEC, 0600) = 19</etc/app/.app.conf.tmp>',
  write: '10 write(19</etc/app/.app.conf.tmp>, ""..., 11) = 11',
  mode: '10 fchmod(19</etc/app/.app.conf.tmp>, 0640) = 0',
  sync: '10 fsync(19</etc/app/.app.conf.tmp>) = 0',
  rename: '10 rename("/etc/app/.app.conf.tmp", "/etc/app/app.conf") = 0',
  folder: '10 fsync(20</etc/app>) = 0',
  next: '10 rename("/var/lib/a/.r.tmp", "/var/lib/a/r") = 0',
  nextFolder: '10 fsync(21</var/lib/a>) = 0',
} as const;

const judge = (lines: readonly string[]) =>
  lostByPowerCut(
    parseStraceLog(lines.join('\n')).flatMap((call) => diskChangeOf(call) ?? []),
    {
      isKept: (path) => !path.startsWith('/run/'),
    },
  );
const without = (...left: (keyof typeof REPLACEMENT)[]) =>
  Object.entries(REPLACEMENT).flatMap(([name, line]) => (left.some((one) => one === name) ? [] : [line]));

it('finds nothing in a replacement that is fsynced, renamed and followed by the fsync of its folder (A8)', () => {
  expect(judge(without())).toEqual([]);
});

it('finds a rename whose file was not fsynced before it', () => {
  expect(judge(without('sync'))).toEqual([
    '/etc/app/.app.conf.tmp was renamed to /etc/app/app.conf before it was fsynced',
  ]);
});

it('finds a mode that was given after the fsync', () => {
  const { open, write, sync, mode, rename, folder } = REPLACEMENT;
  expect(judge([open, write, sync, mode, rename, folder])).toHaveLength(1);
});

it('finds a rename whose folder was not fsynced before the next rename', () => {
  expect(judge(without('folder'))).toEqual([
    '/etc/app/.app.conf.tmp was renamed to /etc/app/app.conf, but /etc/app was not fsynced before the rename to /var/lib/a/r',
  ]);
});

it('finds a last rename whose folder is never fsynced', () => {
  expect(judge(without('nextFolder'))).toEqual([
    '/var/lib/a/.r.tmp was renamed to /var/lib/a/r, but /var/lib/a was not fsynced before the end',
  ]);
});

it('finds a removal whose folder is not fsynced', () => {
  expect(judge(['10 unlink("/var/lib/a/hold") = 0'])).toHaveLength(1);
  expect(judge(['10 unlink("/var/lib/a/hold") = -1 ENOENT (No such file or directory)'])).toEqual([]);
});

it('finds a manifest that gets its name before the copies below it, or their folder, are on the disk', () => {
  const backup = [
    '10 mkdir("/data/b", 0700) = 0',
    '10 mkdir("/data/b/configs", 0700) = 0',
    '10 fsync(3</data>) = 0',
    '10 openat(AT_FDCWD</>, "/data/b/configs/c", O_WRONLY|O_CREAT|O_EXCL, 0600) = 19</data/b/configs/c>',
    '10 copy_file_range(18</etc/c>, [0], 19</data/b/configs/c>, [0], 11, 0) = 11',
    '10 fsync(19</data/b/configs/c>) = 0',
    '10 fsync(20</data/b/configs>) = 0',
    '10 fsync(21</data/b>) = 0',
    '10 rename("/data/b/.manifest.tmp", "/data/b/manifest.json") = 0',
    '10 fsync(21</data/b>) = 0',
  ];
  expect(judge(backup)).toEqual([]);
  const leaving = (text: string) => judge(backup.filter((line) => !line.includes(text)));
  expect(leaving('fsync(19')).toEqual(['/data/b/configs/c was not fsynced before /data/b/manifest.json got its name']);
  expect(leaving('fsync(20')).toEqual([
    'the name /data/b/configs/c was not fsynced before /data/b/manifest.json got its name',
  ]);
  expect(leaving('fsync(3<')).toEqual(['the name /data/b was not fsynced before /data/b/manifest.json got its name']);
});

it('puts a call together again that another thread interrupted', () => {
  const log = [
    '10 fsync(19</etc/app/.app.conf.tmp> <unfinished ...>',
    '11 write(7<pipe:[12]>, ""..., 1) = 1',
    '10 <... fsync resumed>) = 0',
    '10 +++ killed by SIGKILL +++',
  ].join('\n');
  expect(parseStraceLog(log).map(({ name, thread, result }) => [name, thread, result])).toEqual([
    ['write', 11, '1'],
    ['fsync', 10, '0'],
  ]);
});
