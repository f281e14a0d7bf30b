import { afterEach, expect, it } from 'vitest';
import { FileHashes } from '../../host/file-hash.ts';
import { Systemctl } from './systemctl.ts';
import { SystemdAdapter } from './systemd-adapter.ts';
import { systemctl, UnitUnderTest } from './testing/unit-under-test.ts';

/** The host's systemd, and what was asked of it. */
class WatchedSystemctl extends Systemctl {
  readonly asked: string[] = [];

  override call(...[program, args, signal]: Parameters<Systemctl['call']>): ReturnType<Systemctl['call']> {
    this.asked.push(args.slice(args.indexOf('--') + 1).join(' '));
    return super.call(program, args, signal);
  }
}

const units: UnitUnderTest[] = [];
afterEach(async () => {
  for (const unit of units.splice(0)) await unit.remove();
});

async function runningUnit(): Promise<UnitUnderTest> {
  const unit = await UnitUnderTest.write({ service: 'ExecStart=%PROGRAM% infinity\nRestart=always\nRestartSec=0' });
  units.push(unit);
  await unit.started();
  return unit;
}

it('looks at all units of a heartbeat by one call, and sees in it which has stopped and which was started anew', async () => {
  const all = [await runningUnit(), await runningUnit(), await runningUnit()];
  const watched = new WatchedSystemctl();
  const adapters = all.map(({ name: unit, program: installPath, dataDir }) => {
    const where = { unit, installPath, dataDir, configRoots: [], allowHttpHosts: [] };
    return new SystemdAdapter(where, { systemctl: watched, hashes: new FileHashes() });
  });
  const beat = () => Promise.all(adapters.map((adapter) => adapter.status()));

  const before = await beat();
  expect(watched.asked).toEqual([all.map(({ name }) => name).join(' ')]);
  expect(before).toEqual(await Promise.all(all.map((unit) => unit.adapter().status())));

  const [stopped = '', restarted = ''] = all.map(({ name }) => name);
  await systemctl('stop', stopped);
  await systemctl('restart', restarted);
  const after = await beat();
  expect(after[0]).toMatchObject({ state: 'stopped', mainPid: null });
  expect(after[1]).toMatchObject({ state: 'running' });
  expect(after[1]?.mainPid).not.toBe(before[1]?.mainPid);
  expect(after[2]).toEqual(before[2]);
});

it('sees a unit as it is when another one is missing or has an impossible name', async () => {
  const unit = await runningUnit();
  const shared = new Systemctl();
  const [good, missing, impossible] = await Promise.allSettled([
    shared.show(unit.name),
    shared.show('no-such-unit.service'),
    shared.show('template@.service'),
  ]);
  expect(good).toMatchObject({ value: { loadState: 'loaded', activeState: 'active' } });
  expect(missing).toMatchObject({ value: { loadState: 'not-found' } });
  expect(impossible).toMatchObject({ reason: { code: 'systemd_unreachable' } });
});
