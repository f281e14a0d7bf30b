import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runCollected, runVisible } from './run-command.mjs';

const MODULE = fileURLToPath(new URL('./run-command.mjs', import.meta.url));

/** Whether the process is there and no zombie: orphans here wait some time for somebody to collect them. */
async function isAlive(pid: number): Promise<boolean> {
  const { code, stdout } = await runCollected('ps', ['-o', 'stat=', '-p', String(pid)]);
  return code === 0 && !stdout.trim().startsWith('Z');
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((wake) => setTimeout(wake, 20));
}

it('collects what a failing program said instead of throwing', async () => {
  const { code, output } = await runCollected('sh', ['-c', 'echo out; echo err >&2; exit 3']);
  expect([code, output.split('\n').sort().join(' ').trim()]).toEqual([3, 'err out']);
});

it('leaves nothing of a visible program’s group behind', async () => {
  const { code } = await runVisible('sh', ['-c', 'sleep 300 & exit 4']);
  expect(code).toBe(4);
  const { stdout } = await runCollected('sh', ['-c', `ps -eo stat=,args= | grep -c '^[^Z].*[s]leep 300$' || true`]);
  expect(Number(stdout)).toBe(0);
});

it.each(['runCollected', 'runVisible'])('%s ends its program when we are told to end', async (name) => {
  const script = `import(${JSON.stringify(MODULE)}).then(({ ${name} }) => ${name}('sleep', ['301']))`;
  const runner = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  const children = async () => {
    const { stdout } = await runCollected('ps', ['-o', 'pid=', '--ppid', String(runner.pid)]);
    return stdout.trim().split(/\s+/).filter(Boolean).map(Number);
  };
  await until(async () => (await children()).length === 1);
  const [child = 0] = await children();
  runner.kill('SIGTERM');
  await once(runner, 'exit');
  await until(async () => !(await isAlive(child)));
});
