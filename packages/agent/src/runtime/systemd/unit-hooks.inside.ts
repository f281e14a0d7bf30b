import { execFile } from 'node:child_process';
import { chown, copyFile, mkdtemp, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, it } from 'vitest';
import { Systemctl } from './systemctl.ts';
import { UnitHooks } from './unit-hooks.ts';

const run = promisify(execFile);
const never = new AbortController().signal;
const UNIT = 'hooked.service';

let dataDir: string;
let hooks: UnitHooks;

beforeEach(async () => {
  dataDir = await mkdtemp('/var/tmp/hooked-');
  const installPath = join(dataDir, 'program');
  await copyFile('/usr/bin/sleep', installPath);
  await chown(dataDir, 65534, 65534);
  await writeFile('/etc/hooked.env', 'FROM_FILE=file\n');
  const service = [
    `ExecStart=${installPath} 1001`,
    'User=nobody',
    `WorkingDirectory=${dataDir}`,
    'Environment="SAID=two words" OTHER=one',
    'EnvironmentFile=/etc/hooked.env',
    'NoNewPrivileges=yes',
    'ProtectSystem=strict',
    `ReadWritePaths=${dataDir}`,
  ];
  await writeFile(`/etc/systemd/system/${UNIT}`, `[Service]\n${service.join('\n')}\n`);
  await run('systemctl', ['daemon-reload']);
  await run('systemctl', ['restart', UNIT]);
  hooks = new UnitHooks(UNIT, { installPath, dataDir, hookPrograms: ['/bin/sh'] }, new Systemctl());
});

const shell = (line: string, timeoutMs = 60_000) => ({ name: 'step', command: ['/bin/sh', '-c', line], timeoutMs });

it('runs a step as the node: its user, folder, environment and sandbox', async () => {
  const line = 'id -un; pwd; echo "$SAID-$OTHER-$FROM_FILE"; touch {data_dir}/mine; touch /etc/not-mine || exit 7';
  const { output, code, timedOut } = await hooks.run(shell(line), never);
  expect(output.split('\n').slice(0, 3)).toEqual(['nobody', dataDir, 'two words-one-file']);
  expect({ code, timedOut }).toEqual({ code: 7, timedOut: false });
  expect(output).toContain('Read-only file system');
  expect((await stat(join(dataDir, 'mine'))).uid).toBe(65534);
});

it('ends a step whose time is up with all that it started, and not the node', async () => {
  const { timedOut } = await hooks.run(shell('sleep 4242 & sleep 4242', 1_000), never);
  expect(timedOut).toBe(true);
  expect((await run('ps', ['-eo', 'args'])).stdout).not.toContain('sleep 4242');
  expect((await run('systemctl', ['is-active', UNIT])).stdout.trim()).toBe('active');
});

it('ends what an agent that died left of a step, and has nothing to end afterwards (field-case 20)', async () => {
  const left = hooks.run(shell('sleep 4243'), never);
  await expect.poll(async () => (await run('ps', ['-eo', 'args'])).stdout, { timeout: 30_000 }).toContain('sleep 4243');
  await hooks.end('step');
  await left;
  expect((await run('ps', ['-eo', 'args'])).stdout).not.toContain('sleep 4243');
  await hooks.end('step');
});
