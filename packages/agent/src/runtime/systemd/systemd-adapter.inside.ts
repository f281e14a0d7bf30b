import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, it } from 'vitest';
import { FileHashes } from '../../host/file-hash.ts';
import { Systemctl } from './systemctl.ts';
import { SystemdAdapter } from './systemd-adapter.ts';

const run = promisify(execFile);
const UNIT = 'undo.service';
const UNIT_FILE = `/etc/systemd/system/${UNIT}`;
const soon = () => AbortSignal.timeout(120_000);

let folder: string;
let program: string;
let adapter: SystemdAdapter;

beforeEach(async () => {
  folder = await mkdtemp('/var/tmp/undo-');
  program = join(folder, 'program');
  await copyFile('/usr/bin/sleep', program);
  const service = `ExecStart=${program} 1001\nRestart=always\nRestartSec=1`;
  await writeFile(UNIT_FILE, `[Service]\n${service}\n[Install]\nWantedBy=multi-user.target\n`);
  await run('systemctl', ['enable', UNIT]); // systemd forgets a stopped unit that nothing wants, and would read it anew
  const files = { installPath: program, dataDir: folder, configRoots: ['/etc/systemd/system'], allowHttpHosts: [] };
  adapter = new SystemdAdapter({ unit: UNIT, ...files }, { systemctl: new Systemctl(), hashes: new FileHashes() });
  await adapter.reloadDaemon();
  await adapter.prepare();
  await adapter.start({ signal: soon(), stableMs: 100 });
});

const commandLine = async () =>
  (await readFile(`/proc/${(await adapter.status()).mainPid}/cmdline`, 'utf8')).split('\0');

it('comes back with the old command line after a changed unit file and a start that failed (A1)', async () => {
  const backupDir = join(folder, '.upgrade-backup', 'attempt-1');
  await mkdir(backupDir, { recursive: true });
  const before = await readFile(UNIT_FILE, 'utf8');

  await adapter.backupState(backupDir, [UNIT_FILE], soon());
  await adapter.hold();
  await adapter.stop(soon());
  await adapter.writeConfig(UNIT_FILE, Buffer.from(before.replace('1001', 'no-number')));
  await adapter.reloadDaemon();
  await expect(adapter.start({ signal: soon(), stableMs: 500 })).rejects.toMatchObject({ code: 'start_failed' });

  await adapter.hold();
  await adapter.stop(soon());
  await adapter.restoreConfig(backupDir, UNIT_FILE);
  await adapter.restoreArtifact(backupDir);
  await adapter.reloadDaemon();
  await adapter.start({ signal: soon(), stableMs: 500 });

  expect(await readFile(UNIT_FILE, 'utf8')).toBe(before);
  expect(await commandLine()).toEqual([program, '1001', '']);
  const { stdout } = await run('systemctl', ['show', UNIT, '-p', 'NeedDaemonReload']);
  expect(stdout.trim()).toBe('NeedDaemonReload=no');
});
