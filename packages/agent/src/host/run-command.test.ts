import { expect, it } from 'vitest';
import { isAlive, readProcess } from './process-table.ts';
import { lastWords, runCommand } from './run-command.ts';

const never = new AbortController().signal;
const shell = (line: string, timeoutMs = 60_000) => ({
  program: '/bin/sh',
  args: ['-c', line],
  env: { PATH: '/usr/bin:/bin', KNOWN: 'yes' },
  cwd: '/',
  timeoutMs,
});

it('gives the end of what a program said, its exit status, and only the environment that it was given', async () => {
  const end = await runCommand(shell('echo "$KNOWN$HOME"; echo trouble >&2; exit 3'), never);
  expect(end).toMatchObject({ code: 3, killedBy: null, timedOut: false });
  expect(end.output).toContain('yes\n');
  expect(lastWords('first\n  trouble \n')).toBe(' (trouble)');
});

it('ends it and what it started when its time is up', async () => {
  const { output, timedOut } = await runCommand(shell('sleep 1000 & echo $!; wait', 500), never);
  expect(timedOut).toBe(true);
  const child = await readProcess(Number(output.trim()));
  expect(child === null || !(await isAlive(child))).toBe(true);
});

it('says so as a value when there is no such program, and keeps the last part of a long talk', async () => {
  expect(await runCommand({ ...shell(''), program: '/no/such' }, never)).toMatchObject({ code: 127 });
  const { output } = await runCommand(shell('head -c 300000 /dev/zero | tr "\\0" x; echo end'), never);
  expect(output.length).toBe(64 * 1024);
  expect(output.endsWith('end\n')).toBe(true);
});
