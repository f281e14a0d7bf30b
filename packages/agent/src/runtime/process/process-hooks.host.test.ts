import { execFileSync } from 'node:child_process';
import { chmod, chown, copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ProcessHooks } from './process-hooks.ts';

/** Steps of the vendor as real processes; as root, as an agent is that gives its nodes users of their own. */
vi.setConfig({ testTimeout: 120_000 });

const NOBODY = 65534;
const never = new AbortController().signal;

let dataDir: string;
let installPath: string;
/** An argument that no other process of this machine has. */
let token: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hoodcloud-process-hooks-'));
  await chmod(dataDir, 0o755);
  await chown(dataDir, NOBODY, NOBODY);
  installPath = join(dataDir, 'program');
  await copyFile('/bin/sh', installPath);
  token = String(100_000 + Math.floor(Math.random() * 800_000));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

/** A life of the agent. */
function agent(binaryName = 'node'): ProcessHooks {
  const env = { SAID: 'two words' };
  return new ProcessHooks({ binaryName, installPath, dataDir, hookPrograms: [], cwd: null, env, user: 'nobody' });
}

const shell = (line: string, timeoutMs = 60_000) => ({ name: 'step', command: ['{binary}', '-c', line], timeoutMs });

/** Lines of `ps` with the token in them: what is left of a step. */
function left(): string[] {
  const lines = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(`sleep ${token}`));
}

it('runs a step as the node: its user and no group of the agent, its folder, its environment', async () => {
  const line = 'id -u; id -G; pwd; echo "$SAID"; touch {data_dir}/mine; touch /etc/not-mine';
  const { output, code } = await agent().run(shell(line), never);
  expect(output.split('\n').slice(0, 4)).toEqual([`${NOBODY}`, `${NOBODY}`, dataDir, 'two words']);
  expect(output).toContain('Permission denied');
  expect(code).toBe(1);
  expect((await stat(join(dataDir, 'mine'))).uid).toBe(NOBODY);
});

it('ends a step whose time is up with all that it started, what left its group too', async () => {
  const { timedOut } = await agent().run(
    shell(`setsid sleep ${token} & sleep ${token} & sleep ${token}`, 1_000),
    never,
  );
  expect(timedOut).toBe(true);
  expect(left()).toEqual([]);
});

it('leaves nothing of a step that has ended, and does not wait for what it left (field-case 20)', async () => {
  const { code, output, timedOut } = await agent().run(
    shell(`setsid sleep ${token} & sleep ${token} & echo done`),
    never,
  );
  expect({ code, output, timedOut }).toEqual({ code: 0, output: 'done\n', timedOut: false });
  expect(left()).toEqual([]);
});

it('ends a step when its signal aborts', async () => {
  const ending = new AbortController();
  const end = agent().run(shell(`sleep ${token}`), ending.signal);
  await expect.poll(left, { timeout: 60_000 }).not.toEqual([]);
  ending.abort();
  expect(await end).toMatchObject({ timedOut: true });
  expect(left()).toEqual([]);
});

it('tells how a step ended: its exit status, its signal, or that it could not be run', async () => {
  expect(await agent().run(shell('exit 0'), never)).toMatchObject({ code: 0, killedBy: null, timedOut: false });
  expect(await agent().run(shell('exit 31'), never)).toMatchObject({ code: 31, killedBy: null, timedOut: false });
  expect(await agent().run(shell('kill -SEGV $$'), never)).toMatchObject({ code: null, killedBy: 'SIGSEGV' });
  await rm(installPath);
  const { code, output } = await agent().run(shell('exit 0'), never);
  expect(code).toBe(127);
  expect(output).toContain('ENOENT');
});

it('keeps the end of what a step said, stdout and stderr in their order', async () => {
  const line = 'i=0; while [ $i -lt 20000 ]; do echo "line $i"; i=$((i+1)); done; echo the end >&2';
  const { output } = await agent().run(shell(line), never);
  expect(output).toHaveLength(64 * 1024);
  expect(output.endsWith('line 19999\nthe end\n')).toBe(true);
});

it("ends what an agent that died left of a step, and no other component's (field-case 20)", async () => {
  const ended = agent().run(shell(`setsid sleep ${token}; sleep ${token}`), never);
  await expect.poll(left, { timeout: 60_000 }).not.toEqual([]);
  await agent('other').end('step');
  expect(left()).not.toEqual([]);
  await agent().end('step');
  expect(left()).toEqual([]);
  await ended;
  await agent().end('step');
});
