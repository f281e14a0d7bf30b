import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleForHost } from '@hoodcloud/testkit/host-lab/bundle-for-host';
import { createLab, type HostLab, hostsAvailable } from '@hoodcloud/testkit/host-lab/host-lab';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { checksumOf } from '../../host/file-hash.ts';
import type { RuntimeStatus } from '../runtime-adapter.ts';
import type { DriveAnswer, DriveOrder } from './drive-service.ts';

const DRIVER = fileURLToPath(new URL('./drive-service.ts', import.meta.url));
const UNIT = 'node.service';
const PROGRAM = '/usr/local/bin/node-under-test';
const AT = { unit: UNIT, installPath: PROGRAM, dataDir: '/var/lib/node-under-test', user: null };
const HOLD = `/var/lib/hoodcloud/hold/${UNIT}`;

/** A real executable of the machine; bytes behind its end give it a checksum of its own. */
const release = async (version: string) => Buffer.concat([await readFile('/usr/bin/sleep'), Buffer.from(version)]);

const unitFile = (service: string, more = '') =>
  `[Service]\n${service}\n${more}\n[Install]\nWantedBy=multi-user.target\n`;
const RUNS = `ExecStart=${PROGRAM} infinity\nRestart=always\nRestartSec=3`;

describe.skipIf(!hostsAvailable())('a systemd unit', () => {
  let lab: HostLab;
  let host: Host;

  beforeAll(async () => {
    lab = await createLab();
    host = await lab.up('svc');
    await bundleForHost(host, DRIVER, '/opt/drive.mjs');
  });
  afterAll(() => lab.clean());
  beforeEach(() => install(unitFile(RUNS)));

  async function install(unit: string): Promise<void> {
    await host.sh(
      `systemctl stop ${UNIT} 2>/dev/null || true; systemctl reset-failed ${UNIT} 2>/dev/null || true; rm -f ${HOLD}`,
    );
    await host.writeFile(PROGRAM, await release('v1'), 0o755);
    await host.writeFile(`/etc/systemd/system/${UNIT}`, unit);
    await host.sh(`systemctl daemon-reload; systemctl enable -q ${UNIT}`);
    await must('prepare');
    await host.must('systemctl', 'start', UNIT);
  }

  async function drive(
    method: DriveOrder['method'],
    budgetMs = 120_000,
    stableMs = 500,
    at: Pick<DriveOrder, 'unit' | 'user'> = AT,
  ): Promise<DriveAnswer> {
    const order: DriveOrder = { ...AT, ...at, method, budgetMs, stableMs };
    return JSON.parse(await host.must('node', '/opt/drive.mjs', JSON.stringify(order)));
  }
  async function must<T>(method: DriveOrder['method'], budgetMs?: number): Promise<T> {
    const answer = await drive(method, budgetMs);
    expect(answer.error).toBeUndefined();
    return answer.result as T;
  }
  const show = (property: string) =>
    host.must('systemctl', 'show', UNIT, '-p', property, '--value').then((text) => text.trim());
  const mainPid = () => show('MainPID').then(Number);

  it('shows what runs: pid with start time, checksum of the running and of the installed file (A6)', async () => {
    const pid = await mainPid();
    const v2 = await release('v2');
    await host.writeFile(PROGRAM, v2, 0o755);

    expect(await must<RuntimeStatus>('status')).toEqual({
      state: 'running',
      wantedRunning: true,
      held: false,
      mainPid: pid,
      mainPidStartedAt: Number((await host.readFile(`/proc/${pid}/stat`)).split(' ')[21]),
      restarts: 0,
      runningChecksum: checksumOf(await release('v1')),
      installedChecksum: checksumOf(v2),
    });
  });

  it('stops and starts, each twice, and leaves no drop-in of the stop behind (A7)', async () => {
    const pid = await mainPid();
    await must('hold');
    await must('stop');
    await must('stop');
    expect(await must('status')).toMatchObject({ state: 'stopped', wantedRunning: false, held: true, mainPid: null });
    await must('start');
    await must('start');
    expect(await must('status')).toMatchObject({ state: 'running', held: false, restarts: 0 });
    expect(await mainPid()).not.toBe(pid);
    expect(await show('DropInPaths')).toBe(`/etc/systemd/system/${UNIT}.d/50-hoodcloud-hold.conf`);
    expect(await show('TimeoutStopUSec')).not.toBe('infinity');
  });

  it('never kills a unit that takes longer to stop than its TimeoutStopSec and its budget (A7)', async () => {
    const slow = `ExecStart=/bin/bash -c 'trap "until [ -e /run/flushed ]; do sleep 0.1; done; echo flushed; exit 0" TERM; while :; do sleep 0.1; done'`;
    await install(unitFile(slow, 'TimeoutStopSec=1'));
    await host.writeFile(`/etc/systemd/system/${UNIT}.d/override.conf`, '[Service]\nTimeoutStopSec=1\n');
    await host.must('systemctl', 'daemon-reload');
    try {
      await must('hold');
      expect((await drive('stop', 1500)).error).toMatchObject({ code: 'stop_overrun' });
      expect(await must('status')).toMatchObject({ state: 'stopping' });
      expect((await drive('start')).error).toMatchObject({ code: 'fence_violated' });

      await host.must('touch', '/run/flushed');
      await must('waitUntilGone');
      expect(await must('status')).toMatchObject({ state: 'stopped', held: true });
      expect(await show('Result')).toBe('success');
      expect(await host.must('journalctl', '-u', UNIT, '-o', 'cat', '-n', '20', '--no-pager')).toContain('flushed');
    } finally {
      await host.sh(`rm /etc/systemd/system/${UNIT}.d/override.conf; systemctl daemon-reload`);
    }
  });

  it('does not start beside a process of the old run that escaped the unit (A19)', async () => {
    await install(unitFile(`ExecStart=/bin/bash -c 'sleep 300 & exec ${PROGRAM} infinity'\nKillMode=process`));
    await must('hold');
    expect((await drive('stop', 1500)).error).toMatchObject({ code: 'stop_overrun' });
    const refused = await drive('start');
    expect(refused.error).toMatchObject({ code: 'fence_violated', message: expect.stringMatching(/pid \d+/) });
    expect(await mainPid()).toBe(0);
    await host.sh(`systemctl kill ${UNIT}`);
    await must('waitUntilGone');
    await must('start');
  });

  it('stays down through a power loss while it is held, and comes up after the release (A18a)', async () => {
    await must('hold');
    await must('stop');
    await host.kill();
    await host.boot();
    expect(await must('status')).toMatchObject({ state: 'stopped', held: true });
    await host.must('systemctl', 'start', UNIT); // systemd says 0, and the unit stays down
    expect(await must('status')).toMatchObject({ state: 'stopped' });

    await must('release');
    await host.kill();
    await host.boot();
    await vi.waitUntil(async () => (await show('ActiveState')) === 'active', { timeout: 120_000 });
  });

  it('brings no kind of unit up by itself after a power loss in the middle, and all when they are started (A18a)', async () => {
    const FORKS = `Type=forking\nExecStart=/bin/bash -c "${PROGRAM} infinity &"`;
    const NOTIFIES = `Type=notify\nNotifyAccess=all\nExecStart=/bin/bash -c "systemd-notify --ready; exec ${PROGRAM} infinity"`;
    const USER = 'echo val:x:2000:2000::/home/hoodcloud-val:/bin/sh >>/etc/passwd; echo val:x:2000: >>/etc/group';
    await host.sh(
      `${USER}; echo 'val:*:19000:0:99999:7:::' >>/etc/shadow; mkdir -p /home/hoodcloud-val; chown val: /home/hoodcloud-val`,
    );
    const kinds = [
      { unit: 'held@one.service', user: null, file: unitFile(RUNS) },
      { unit: 'forks.service', user: null, file: unitFile(FORKS) },
      { unit: 'notifies.service', user: null, file: unitFile(NOTIFIES) },
      { unit: 'triggered.service', user: null, file: unitFile(RUNS) },
      { unit: 'users.service', user: 'val', file: unitFile(RUNS).replace('multi-user', 'default') },
    ];
    for (const { unit, user, file } of kinds) {
      const name = unit.replace(/@.*\./, '@.');
      await host.writeFile(`/etc/systemd/${user === null ? 'system' : 'user'}/${name}`, file);
    }
    const trigger = '\nUnit=triggered.service\n[Install]\nWantedBy=multi-user.target\n';
    await host.writeFile(
      '/etc/systemd/system/triggered.socket',
      `[Socket]\nListenStream=127.0.0.1:7412${trigger.replace(/Unit=.*\n/, '')}`,
    );
    await host.writeFile('/etc/systemd/system/by-path.path', `[Path]\nPathExists=/etc/hostname${trigger}`);
    await host.writeFile('/etc/systemd/system/by-timer.timer', `[Timer]\nOnBootSec=0\nOnUnitInactiveSec=1${trigger}`);
    const asVal =
      'setpriv --reuid=2000 --regid=2000 --clear-groups env XDG_RUNTIME_DIR=/run/user/2000 systemctl --user';
    await host.sh(`systemctl daemon-reload; loginctl enable-linger val; systemctl start user@2000; ${asVal} daemon-reload
      ${asVal} enable -q users.service; systemctl enable -q ${kinds
        .slice(0, 4)
        .map(({ unit }) => unit)
        .join(' ')}
      systemctl enable -q --now triggered.socket by-path.path by-timer.timer`);
    const all = async (method: DriveOrder['method']) => {
      for (const kind of kinds) expect((await drive(method, 120_000, 100, kind)).error).toBeUndefined();
    };
    await all('prepare');
    await all('start');
    await must('hold'); // a power loss between the hold and the stop
    await all('hold');
    await all('stop');
    await host.kill();
    await host.boot();
    await vi.waitUntil(async () => (await host.exec('systemctl', 'is-active', '-q', 'user@2000')).code === 0, {
      timeout: 120_000,
    });
    expect((await host.exec('pgrep', '-f', `^${PROGRAM}`)).stdout).toBe('');
    for (const kind of kinds) {
      expect((await drive('status', 120_000, 100, kind)).result).toMatchObject({ state: 'stopped', held: true });
    }
    await all('start');
    await must('start');
    const running = (await host.must('pgrep', '-f', `^${PROGRAM}`)).trim().split('\n');
    expect(running).toHaveLength(kinds.length + 1);
    await host.sh('systemctl disable -q --now triggered.socket by-path.path by-timer.timer');
    await all('hold');
    await all('stop');
    await all('leave');
  });

  it('counts a unit in auto-restart as wanted running, one that an operator stopped as not (A3)', async () => {
    await host.writeFile(PROGRAM, '#!/bin/sh\nexit 1\n', 0o755);
    await host.sh(`kill $(systemctl show ${UNIT} -p MainPID --value)`);
    await vi.waitUntil(async () => (await show('SubState')) === 'auto-restart', { timeout: 120_000 });
    expect(await must('status')).toMatchObject({ state: 'waiting_restart', wantedRunning: true });

    await host.must('systemctl', 'stop', UNIT);
    expect(await must('status')).toMatchObject({ state: 'stopped', wantedRunning: false });
    await must('prepare');
    expect(await must('status')).toMatchObject({ state: 'stopped' });
  });

  it('takes its drop-in away when it leaves, and touches the running unit by neither', async () => {
    const pid = await mainPid();
    await must('leave');
    expect(await show('DropInPaths')).toBe('');
    await must('prepare');
    expect(await mainPid()).toBe(pid);
  });

  const elf = Buffer.from('7f454c460201010000000000000000000200b700', 'hex');
  it.each([
    ['exits at once', '#!/bin/sh\necho refusing to run >&2\nexit 3\n', 0o755, /exited with code 3/],
    ['is not executable', 'content', 0o644, /203\/EXEC/],
    ['is built for another platform', Buffer.concat([elf, Buffer.alloc(200)]), 0o755, /203\/EXEC/],
    ['is half an ELF file', 'half', 0o755, /signal|203\/EXEC/],
  ])(
    'says why a release does not stay up that %s, whatever systemctl start returns (D4c)',
    async (_, content, mode, cause) => {
      for (const type of ['simple', 'exec']) {
        await install(unitFile(RUNS, `Type=${type}`));
        await must('hold');
        await must('stop');
        const bytes = content === 'half' ? (await release('v2')).subarray(0, 20_000) : content;
        await host.writeFile(PROGRAM, bytes, mode);
        expect((await drive('start')).error).toMatchObject({
          code: 'start_failed',
          message: expect.stringMatching(cause),
        });
      }
    },
  );

  it('starts again after systemd has refused starts, and gives the log since the latest start (A15, A18)', async () => {
    const limit = '[Unit]\nStartLimitIntervalSec=1h'; // however slow the machine, the start by hand is within it
    await install(unitFile(`ExecStart=${PROGRAM} infinity\nRestart=always\nRestartSec=100ms`, limit));
    await must('hold');
    await must('stop');
    await host.writeFile(PROGRAM, '#!/bin/sh\necho cannot open database\nexit 1\n', 0o755);
    expect((await drive('start')).error).toMatchObject({ code: 'start_failed' });
    await vi.waitUntil(async () => (await show('ActiveState')) === 'failed', { timeout: 120_000 });
    expect((await host.exec('systemctl', 'start', UNIT)).code).toBe(1); // start limit
    expect(await must<string[]>('logTail')).toContain('cannot open database');

    await host.writeFile(PROGRAM, await release('v1'), 0o755);
    await must('start');
    expect((await must<string[]>('logTail')).join()).not.toContain('cannot open database');
  });

  it('names a unit that is not there', async () => {
    const order = { ...AT, unit: 'nothing.service', method: 'status', budgetMs: 1000, stableMs: 0 };
    const answer: DriveAnswer = JSON.parse(await host.must('node', '/opt/drive.mjs', JSON.stringify(order)));
    expect(answer.error).toMatchObject({ code: 'unit_not_loaded', message: expect.stringContaining('no such unit') });
  });
});
