import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { checksumOf } from '../../host/file-hash.ts';
import { pidsRunning, shell, soon, systemctl, UnitUnderTest, until } from './testing/unit-under-test.ts';

const RUNS = 'ExecStart=%PROGRAM% infinity\nRestart=always\nRestartSec=1';
let unit: UnitUnderTest;
afterEach(() => unit?.remove());
beforeAll(() =>
  shell(
    'echo val:x:2000:2000::/home/hoodcloud-val:/bin/sh >>/etc/passwd; echo val:x:2000: >>/etc/group; echo "val:*:19000:0:99999:7:::" >>/etc/shadow; mkdir -p /home/hoodcloud-val',
  ),
);

/** The whole way of an upgrade as far as the service sees it. */
async function stopsAndStarts(): Promise<void> {
  const adapter = await unit.started();
  const before = await adapter.status();
  expect(before).toMatchObject({ state: 'running', wantedRunning: true });
  expect(before.runningChecksum).toBe(before.installedChecksum);
  await adapter.requireReady();
  await adapter.hold();
  await adapter.stop(soon());
  expect(await unit.pids()).toEqual([]);
  const after = unit.adapter();
  await after.start({ signal: soon(), stableMs: 100 });
  expect(await after.status()).toMatchObject({ state: 'running', held: false, restarts: 0 });
  expect(await unit.pids()).toHaveLength(1);
}

const NOTIFIES =
  'NotifyAccess=all\nExecStart=/bin/bash -c "%PROGRAM% 0.3; systemd-notify --ready; exec %PROGRAM% infinity"';
it.each([
  ['Type=simple', RUNS],
  ['Type=exec', `Type=exec\n${RUNS}`],
  ['Type=notify', `Type=notify\n${NOTIFIES}`],
  [
    'Type=forking',
    'Type=forking\nPIDFile=/run/fork.pid\nExecStart=/bin/bash -c "%PROGRAM% infinity & echo $! >/run/fork.pid"',
  ],
  ['Type=forking without PIDFile=', 'Type=forking\nExecStart=/bin/bash -c "%PROGRAM% infinity &"'],
  [
    'DynamicUser, NoNewPrivileges, ProtectSystem',
    `DynamicUser=yes\nNoNewPrivileges=yes\nProtectSystem=strict\nPrivateTmp=yes\n${RUNS}`,
  ],
])('stops and starts a unit with %s', async (_, service) => {
  unit = await UnitUnderTest.write({ service });
  await stopsAndStarts();
});

it.each(['node@main.service', 'node@a\\x2db-%i.service'.replace('%i', 'c:d')])(
  'stops and starts %s, an instance of a template',
  async (name) => {
    unit = await UnitUnderTest.write({ service: RUNS }, name);
    await stopsAndStarts();
    await unit.adapter().hold();
    await systemctl('kill', name);
    await until(async () => (await unit.show('ActiveState')) === 'inactive');
  },
);

it('stops and starts a unit whose file is linked in from elsewhere, and sees that file change', async () => {
  unit = await UnitUnderTest.write({ service: RUNS, unitFolder: '/opt/units' }, 'linked.service');
  await systemctl('link', '-q', '/opt/units/linked.service');
  await stopsAndStarts();
  const adapter = await unit.prepared();
  await adapter.hold();
  await adapter.stop(soon());
  await unit.writeUnit('linked.service', `[Service]\nEnvironment=CHANGED=yes\n${RUNS}\n`);
  await adapter.reloadDaemon();
  await adapter.start({ signal: soon(), stableMs: 100 });
  const { mainPid } = await adapter.status();
  expect(await readFile(`/proc/${mainPid}/environ`, 'utf8')).toContain('CHANGED=yes');
});

it('finds the artifact of a unit with a RootDirectory= of its own (A6)', async () => {
  const installPath = '/srv/jail/bin/node';
  await shell(
    'mkdir -p /srv/jail/{bin,usr,proc,dev,sys,run,tmp,etc,var}; cp /usr/bin/sleep /srv/jail/bin/node; ln -sfn usr/lib /srv/jail/lib; ln -sfn usr/lib64 /srv/jail/lib64',
  );
  unit = await UnitUnderTest.write({
    service: 'RootDirectory=/srv/jail\nMountAPIVFS=yes\nBindReadOnlyPaths=/usr\nExecStart=/bin/node infinity',
    installPath,
  });
  const adapter = await unit.started();
  expect((await adapter.status()).runningChecksum).toBe(checksumOf(await readFile(installPath)));
});

it('runs under a supervisor like Cosmovisor: the artifact is a child, behind a link that is followed (A6, field-case 52)', async () => {
  const installPath = '%FOLDER%/cosmovisor/current/bin/node';
  unit = await UnitUnderTest.write({
    service: 'ExecStart=/bin/bash %FOLDER%/supervisor.sh\nRestart=always',
    installPath,
  });
  const version = (name: string) => join(unit.folder, 'cosmovisor', name, 'bin', 'node');
  for (const name of ['genesis', 'upgrades/v2']) {
    await mkdir(dirname(version(name)), { recursive: true });
    await writeFile(version(name), Buffer.concat([await readFile('/usr/bin/sleep'), Buffer.from(name)]), {
      mode: 0o755,
    });
  }
  await symlink('genesis', join(unit.folder, 'cosmovisor', 'current'));
  const supervisor = `${unit.program} infinity & child=$!\ntrap 'kill $child' TERM\nwait $child\nwait $child\nexit 0\n`;
  await writeFile(join(unit.folder, 'supervisor.sh'), supervisor);
  const adapter = await unit.started();
  const status = await adapter.status();
  expect(await readFile(`/proc/${status.mainPid}/comm`, 'utf8')).toBe('bash\n');
  expect(status.runningChecksum).toBe(checksumOf(await readFile(version('genesis'))));

  await copyFile(version('upgrades/v2'), `${version('genesis')}.new`);
  await shell(`mv ${version('genesis')}.new ${version('genesis')}`);
  const stale = await adapter.status();
  expect(stale.runningChecksum).not.toBe(stale.installedChecksum);
  await adapter.hold();
  await adapter.stop(soon());
  expect(await pidsRunning(version('genesis'))).toEqual([]);
  await adapter.start({ signal: soon(), stableMs: 100 });
  const after = await adapter.status();
  expect(after.runningChecksum).toBe(checksumOf(await readFile(version('upgrades/v2'))));
});

it('is a user unit: runs under the systemd of its user, is held, and leaves nothing behind (A18a)', async () => {
  const unitFolder = '/home/hoodcloud-val/.config/systemd/user';
  unit = await UnitUnderTest.write({ service: RUNS, user: 'val', unitFolder }, 'unode.service');
  await expect(unit.adapter().prepare()).rejects.toMatchObject({ code: 'no_linger' });
  await shell('chown -R val: /home/hoodcloud-val; loginctl enable-linger val; systemctl start user@2000');
  await stopsAndStarts();
  const adapter = unit.adapter();
  const [pid = 0] = await unit.pids();
  expect(await readFile(`/proc/${pid}/status`, 'utf8')).toMatch(/Uid:\s2000/);
  await adapter.hold();
  process.kill(pid, 'SIGKILL');
  await until(async () => (await adapter.status()).state === 'stopped'); // Restart=always, after 1 s
  await adapter.start({ signal: soon(), stableMs: 100 });
  expect((await adapter.logTail(50)).join()).toMatch(/Started/);
  await adapter.leave();
  expect(
    await shell('ls -A /var/lib/hoodcloud-hold /etc/systemd/user /run/systemd/user 2>/dev/null || true'),
  ).not.toMatch(/unode|hoodcloud/);
});

it('of a user without linger is refused, since it would end with the last login', async () => {
  unit = await UnitUnderTest.write(
    { service: RUNS, user: 'nobody', unitFolder: '/etc/systemd/user' },
    'nolinger.service',
  );
  await expect(unit.adapter().prepare()).rejects.toMatchObject({
    code: 'no_linger',
    message: expect.stringContaining('enable-linger nobody'),
  });
  await shell('rm /etc/systemd/user/nolinger.service');
  unit = await UnitUnderTest.write({ service: RUNS });
});

it.each([
  ['Type=oneshot', 'Type=oneshot\nExecStart=/bin/true', '', /oneshot/],
  ['RefuseManualStart=yes', RUNS, 'RefuseManualStart=yes', /RefuseManualStart/],
])('refuses a unit with %s before anything is stopped (A10)', async (_, service, section, sentence) => {
  unit = await UnitUnderTest.write({ service, unit: section });
  const refused = { code: 'unit_not_supported', message: expect.stringMatching(sentence) };
  await expect(unit.prepared()).rejects.toMatchObject(refused);
  await expect(unit.adapter().requireReady()).rejects.toMatchObject(refused);
});

it('refuses a transient and a masked unit, by name', async () => {
  unit = await UnitUnderTest.write({ service: RUNS }, 'masked.service');
  await systemctl('mask', '-q', '--runtime', '--force', 'masked.service').catch(() => undefined);
  await shell('mv /etc/systemd/system/masked.service /tmp; systemctl mask -q masked.service; systemctl daemon-reload');
  await expect(unit.adapter().prepare()).rejects.toMatchObject({
    code: 'unit_not_loaded',
    message: expect.stringContaining('masked'),
  });
  await shell('systemctl unmask -q masked.service');
  unit = await UnitUnderTest.write({ service: RUNS }, 'template-for-transient.service');
  await shell('rm /etc/systemd/system/template-for-transient.service; systemctl daemon-reload');
  await shell('systemd-run -q --unit=template-for-transient.service /usr/bin/sleep 1000');
  await expect(unit.adapter().requireReady()).rejects.toMatchObject({
    code: 'unit_not_supported',
    message: expect.stringContaining('transient'),
  });
});

it('warns of what would bring an old version back, or surprise an upgrade', async () => {
  const service = `ExecStartPre=/usr/bin/cp /usr/bin/sleep %PROGRAM%\nExecStartPre=-/bin/sh -c "curl -o /dev/null https://nowhere.invalid"\nKillMode=process\n${RUNS}`;
  unit = await UnitUnderTest.write({ service, unit: 'OnFailure=rescue.service\nStartLimitAction=reboot' });
  const said = (await unit.adapter().warnings()).join('\n');
  for (const word of [
    'names %PROGRAM%'.replace('%PROGRAM%', unit.program),
    'downloads',
    'rescue.service',
    'KillMode=process',
    'StartLimitAction=reboot',
  ]) {
    expect(said).toContain(word);
  }
  const plain = await UnitUnderTest.write({ service: `ExecStartPre=%PROGRAM% 0\n${RUNS}` });
  expect(await plain.adapter().warnings()).toEqual([]);
  await plain.remove();
});
