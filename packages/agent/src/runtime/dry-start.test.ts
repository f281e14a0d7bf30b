import { chmod, copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BINDS_LOW_PORTS, setExtendedAttributes } from '@hoodcloud/testkit/extended-attributes';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readTextIfThere } from '../host/read-if-there.ts';
import { requireStarts } from './dry-start.ts';
import { identityOfProcess, ownerOf, type ServiceIdentity } from './service-identity.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-dry-'));
  path = join(folder, 'node');
  await chmod(folder, 0o755);
  await copyFile('/bin/sh', path);
  await chmod(path, 0o755);
});
afterEach(() => rm(folder, { recursive: true }));

const signal = AbortSignal.timeout(60_000);
const tried = async (args: string[] | null, changes: { identity?: ServiceIdentity; timeoutMs?: number } = {}) => {
  const { identity = await ownerOf(path), timeoutMs = 20_000 } = changes;
  return requireStarts({ path, wanted: args === null ? null : { args, timeoutMs }, identity, signal });
};
const asRoot = process.getuid?.() === 0;
const SERVICE: ServiceIdentity = { uid: 65534, gid: 65533, groups: [4], loaderEnv: {}, guessed: false };

it('takes any answer to --version for a proof that the binary runs here (A10)', async () => {
  await tried(null); // this shell knows no --version
});

it('refuses a binary whose libraries this host lacks, in the words of its loader (field-case 49)', async () => {
  const content = await readFile(path, 'latin1');
  await writeFile(path, content.replaceAll('libc.so.6', 'libq.so.6'), 'latin1');
  await expect(tried(null)).rejects.toMatchObject({
    code: 'not_executable',
    message: expect.stringMatching(/libq\.so\.6: cannot open shared object file.*: install what it misses/),
  });
});

it('refuses a binary that dies at once', async () => {
  await expect(tried(['-c', 'kill -ILL $$'])).rejects.toMatchObject({
    code: 'not_executable',
    message: expect.stringContaining('SIGILL'),
  });
});

it('wants the answer that the chain says, and tells what came instead', async () => {
  await tried(['-c', 'exit 0']);
  await expect(tried(['-c', 'echo "unknown command start" >&2; exit 3'])).rejects.toMatchObject({
    code: 'dry_start_failed',
    message: expect.stringMatching(/exit status 3 when it was tried with "-c .*unknown command start.*dry_start/),
  });
});

it('ends what goes on for too long, with all that it started', async () => {
  const pidFile = join(folder, 'pid');
  const started = tried(['-c', `sleep 600 & echo $! > ${pidFile}; wait`], { timeoutMs: 1000 });
  await expect(started).rejects.toMatchObject({
    code: 'dry_start_failed',
    message: expect.stringContaining('no answer'),
  });
  const child = Number(await readFile(pidFile, 'utf8'));
  // one that nobody reaps stays as a zombie, which runs no more
  await vi.waitFor(async () => expect(await stateOf(child)).toMatch(/^(gone|Z)/), { timeout: 30_000 });
});

/** Letter of the kernel, or `gone`. */
async function stateOf(pid: number): Promise<string> {
  const status = await readTextIfThere(`/proc/${pid}/status`);
  return /^State:\s+(\S)/m.exec(status ?? '')?.[1] ?? 'gone';
}

it('is given an empty home and leaves none behind', async () => {
  const before = (await readdir(tmpdir())).filter((name) => name.startsWith('hoodcloud-dry-start-'));
  await tried(['-c', 'test "$PWD" = "$HOME" && test -z "$(ls -A)" && echo data > file && test -z "$DATA_DIR"']);
  const left = (await readdir(tmpdir())).filter((name) => name.startsWith('hoodcloud-dry-start-'));
  expect(left.filter((name) => !before.includes(name))).toEqual([]);
});

it.runIf(asRoot)('runs as the user of the service, without a privilege to gain', async () => {
  const caps = '$(grep -c "^Cap...:.0*$" /proc/self/status)';
  const privs = '$(sed -n "s/NoNewPrivs:.//p" /proc/self/status)';
  const seen = `$(id -u) $(id -g) $(id -G) ${caps} ${privs}`;
  const args = ['-c', `seen="${seen}"; echo "$seen"; test "$seen" = "65534 65533 65533 4 5 1"`];
  await tried(args, { identity: SERVICE });
});

it.runIf(asRoot)('finds before the stop that the service may not read its new binary (field-case 31)', async () => {
  await chmod(path, 0o700);
  await expect(tried(null, { identity: SERVICE })).rejects.toMatchObject({
    code: 'not_executable',
    message: expect.stringContaining('Permission denied'),
  });
  // while the service is stopped nobody knows its user for sure
  await tried(null, { identity: { ...SERVICE, guessed: true } });
});

it.runIf(asRoot)(
  'tries a binary with file capabilities, which the kernel refuses to whoever may never have them',
  async () => {
    await setExtendedAttributes(path, { 'security.capability': BINDS_LOW_PORTS });
    await tried(['-c', 'exit 0'], { identity: SERVICE });
    await tried(['-c', 'exit 0'], { identity: { ...SERVICE, uid: 0, gid: 0 } });
  },
);

it('does without the folder for temporary files when that is gone', async () => {
  vi.stubEnv('TMPDIR', join(folder, 'nowhere'));
  await tried(['-c', 'exit 0']).finally(() => vi.unstubAllEnvs());
});

it('learns user, groups and library path from the process of the service', async () => {
  const identity = await identityOfProcess(process.pid);
  expect(identity).toMatchObject({ uid: process.getuid?.(), gid: process.getgid?.() });
  expect(await identityOfProcess(4_000_000)).toBeNull();
  const loaderEnv = { LD_LIBRARY_PATH: '/opt/lib' };
  await tried(['-c', 'test "$LD_LIBRARY_PATH" = /opt/lib'], { identity: { ...SERVICE, loaderEnv } });
});
