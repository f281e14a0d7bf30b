import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ChildServer, StoreNotReadyError } from './child-server.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hoodcloud-child-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const server = (script: string) =>
  new ChildServer({
    name: 'Trial',
    program: 'sh',
    args: ['-c', script],
    logFile: join(folder, 'log'),
  });

const refuse = () => Promise.reject(new Error('refused'));

it('tells what a server said that ended while starting', async () => {
  const failing = server('echo cannot open data; exit 1').waitUntilReady(refuse, 10_000);
  await expect(failing).rejects.toThrow(StoreNotReadyError);
  await expect(failing).rejects.toThrow(/Trial ended while starting.*\n.*cannot open data/s);
});

it('tells that a program is not there', async () => {
  const missing = new ChildServer({
    name: 'Trial',
    program: join(folder, 'nothing'),
    args: [],
    logFile: join(folder, 'log'),
  });
  await expect(missing.waitUntilReady(refuse, 10_000)).rejects.toThrow(/nothing/);
});

it('ends by force what does not end when asked', async () => {
  const stubborn = server('trap "" TERM; echo up; while :; do sleep 0.05; done');
  await stubborn.waitUntilReady(
    async () => void expect(readFileSync(join(folder, 'log'), 'utf8')).toContain('up'),
    10_000,
  );
  await stubborn.stop('SIGTERM', 10);
  expect(() => process.kill(stubborn.pid, 0)).toThrow('ESRCH');
});

it.runIf(process.platform === 'linux')('ends a server whose owner was killed', async () => {
  const module = fileURLToPath(new URL('./child-server.ts', import.meta.url));
  const log = join(folder, 'log');
  const script = `import { ChildServer } from ${JSON.stringify(module)};
    const it = new ChildServer({ name: 'Trial', program: 'sh', logFile: ${JSON.stringify(log)},
      args: ['-c', 'trap "echo asked to end; exit" TERM; echo up; while :; do sleep 0.05; done'] });
    setInterval(() => it.pid, 1000);`;
  const owner = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { stdio: 'ignore' });
  const logged = async (text: string) => {
    const seen = () => {
      try {
        return readFileSync(log, 'utf8').includes(text);
      } catch {
        return false; // the owner hasn't made the log yet
      }
    };
    while (!seen()) await new Promise((wake) => setTimeout(wake, 20));
  };
  await logged('up');
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  await logged('asked to end');
});
