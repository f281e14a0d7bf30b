import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { shell, soon, UnitUnderTest, until } from './testing/unit-under-test.ts';

const RUNS = 'ExecStart=%PROGRAM% infinity\nRestart=always\nRestartSec=100ms';
let unit: UnitUnderTest;
afterEach(() => unit.remove());

/** Exits with an error until it has been run so often, then stays: CometBFT under `double_sign_check_height`. */
const refusesTimes = (times: number) =>
  `echo x >>%FOLDER%/runs; [ $(wc -l <%FOLDER%/runs) -gt ${times} ] && exec sleep 1000; echo "found signature from the same key" >&2; exit 1`;

it.each([
  ['as often as its chain tolerates', 3, 3, 'StartLimitIntervalSec=0', 'up'],
  ['oftener than its chain tolerates', 3, 2, 'StartLimitIntervalSec=0', 'down'],
  ['into its start limit, within what its chain tolerates', 5, 8, 'StartLimitBurst=2\nStartLimitIntervalSec=60', 'up'],
])(
  'a node that exits and is restarted %s is %4$s (D4c)'.replace('%4$s', 'waited for, or not'),
  async (_, times, toleratedRestarts, section, end) => {
    const service = `ExecStart=/bin/bash -c '${refusesTimes(times)}'\nRestart=always\nRestartSec=100ms`;
    unit = await UnitUnderTest.write({ service: service.replaceAll('$', '$$'), unit: section });
    const adapter = await unit.prepared();
    const start = adapter.start({ signal: soon(), stableMs: 1500, toleratedRestarts });
    if (end === 'up') {
      await start;
      expect(await adapter.status()).toMatchObject({ state: 'running' });
      return;
    }
    await expect(start).rejects.toMatchObject({
      code: 'start_failed',
      message: expect.stringMatching(/restarted it for the 3\. time, 2 are tolerated; it said: found signature/),
    });
  },
);

it('starts again and again, and after an undo, whatever its start limit has counted (field-case 55, field-case 56)', async () => {
  unit = await UnitUnderTest.write({ service: RUNS, unit: 'StartLimitBurst=2\nStartLimitIntervalSec=1h' });
  const adapter = await unit.started();
  const stopAndStart = async () => {
    await adapter.hold();
    await adapter.stop(soon());
    await adapter.start({ signal: soon(), stableMs: 100 });
  };
  for (let times = 0; times < 4; times++) await stopAndStart();

  await adapter.hold();
  await adapter.stop(soon());
  await copyFile(unit.program, join(unit.folder, 'good'));
  await shell(`printf '#!/bin/sh\\nexit 1\\n' >${unit.program}`);
  await expect(adapter.start({ signal: soon(), stableMs: 300 })).rejects.toMatchObject({ code: 'start_failed' });
  await until(async () => (await unit.show('ActiveState')) === 'failed');
  await adapter.hold();
  await adapter.stop(soon());
  await shell(`mv ${unit.folder}/good ${unit.program}`);
  await unit.adapter().start({ signal: soon(), stableMs: 100 });
});

it('starts and stops while systemd is told again and again to read its files (field-case 57)', async () => {
  unit = await UnitUnderTest.write({ service: RUNS });
  const adapter = await unit.started();
  await writeFile('/run/reload', '');
  const storm = shell('while [ -e /run/reload ]; do systemctl daemon-reload; sleep 0.05; done');
  for (let times = 0; times < 2; times++) {
    await adapter.hold();
    await Promise.all([adapter.stop(soon()), adapter.reloadDaemon()]);
    await Promise.all([adapter.start({ signal: soon(), stableMs: 50 }), adapter.reloadDaemon()]);
    expect(await unit.pids()).toHaveLength(1);
  }
  await shell('rm /run/reload');
  await storm;
});

it('is starting, and no crash, while its ExecStartPre= works; past its budget it says which setting gives it more', async () => {
  unit = await UnitUnderTest.write({
    service: `ExecStartPre=/bin/sh -c "while [ ! -e %FOLDER%/migrated ]; do sleep 0.1; done"\nTimeoutStartSec=infinity\n${RUNS}`,
  });
  const adapter = await unit.prepared();
  const started = adapter.start({ signal: soon(), stableMs: 200 });
  await until(async () => (await adapter.status()).state === 'starting');
  await sleep(1_000); // long enough for the watch to look several times
  expect(await adapter.status()).toMatchObject({ state: 'starting', wantedRunning: true, mainPid: null, restarts: 0 });
  await writeFile(join(unit.folder, 'migrated'), '');
  await started;

  await adapter.hold();
  await adapter.stop(soon());
  await shell(`rm ${unit.folder}/migrated`);
  const budget = new AbortController();
  const late = expect(adapter.start({ signal: budget.signal, stableMs: 200 })).rejects.toMatchObject({
    code: 'start_failed',
    message: expect.stringMatching(/still starting \(start-pre\).*start_seconds/),
  });
  await until(async () => (await unit.show('SubState')) === 'start-pre');
  budget.abort();
  await late;
  await adapter.hold();
  await adapter.stop(soon());
  expect(await unit.pids()).toEqual([]);
});

it('says that a unit which it requires did not start', async () => {
  unit = await UnitUnderTest.write({
    service: RUNS,
    unit: 'Requires=mount-of-data.service\nAfter=mount-of-data.service',
  });
  await unit.writeUnit('mount-of-data.service', '[Service]\nType=oneshot\nExecStart=/bin/false\n');
  const adapter = await unit.prepared();
  await expect(adapter.start({ signal: soon(), stableMs: 200 })).rejects.toMatchObject({
    code: 'start_failed',
    message: expect.stringContaining('requires did not start'),
  });
});
