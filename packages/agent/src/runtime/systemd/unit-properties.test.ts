import { describe, expect, it } from 'vitest';
import { describeEnd, parseUnit, type UnitView, unitState, wantedRunning } from './unit-properties.ts';

const show = (values: Record<string, string>) =>
  parseUnit(
    Object.entries(values)
      .map(([key, value]) => `${key}=${value}\n`)
      .join(''),
  );
const view = (activeState: string, more: Record<string, string> = {}): UnitView =>
  show({ LoadState: 'loaded', ActiveState: activeState, ...more });

it('reads values by name, with = in them, in any order', () => {
  const unit = show({
    DropInPaths: '/etc/a=b.conf /run/c.conf',
    MainPID: '0',
    Job: '',
    FragmentPath: '/etc/u.service',
  });
  expect(unit.files).toEqual(['/etc/u.service', '/etc/a=b.conf', '/run/c.conf']);
  expect([unit.mainPid, unit.jobQueued]).toEqual([null, false]);
});

describe('state of a unit', () => {
  it.each([
    ['active', { SubState: 'running' }, 1, 'running', true],
    ['activating', { SubState: 'start' }, 1, 'starting', true],
    ['activating', { SubState: 'auto-restart' }, 0, 'waiting_restart', true],
    ['inactive', {}, 0, 'stopped', false],
    ['failed', { Result: 'exit-code' }, 0, 'stopped', false],
    ['inactive', { Job: '77' }, 0, 'starting', true],
    ['failed', {}, 2, 'stopping', false],
    ['deactivating', { SubState: 'stop-sigterm', Job: '77', Restart: 'always' }, 1, 'stopping', false],
    ['deactivating', { SubState: 'stop-post', Restart: 'always' }, 1, 'stopping', true],
    ['deactivating', { SubState: 'stop-post', Restart: 'no' }, 1, 'stopping', false],
  ] as const)('%s %o with %i processes is %s (A3)', (activeState, more, processes, state, wanted) => {
    const unit = view(activeState, more);
    expect(unitState(unit, processes)).toBe(state);
    expect(wantedRunning(unit, state)).toBe(wanted);
  });
});

it.each([
  [{ Result: 'exit-code', ExecMainCode: '1', ExecMainStatus: '2' }, 'it exited with code 2'],
  [{ Result: 'exit-code', ExecMainCode: '1', ExecMainStatus: '203' }, 'it could not be executed (status 203/EXEC)'],
  [{ Result: 'signal', ExecMainCode: '2', ExecMainStatus: '11' }, 'it was ended by signal 11'],
  [{ Result: 'timeout' }, 'it did not become ready within its start time-out'],
])('describes %o', (values, sentence) => {
  expect(describeEnd(view('failed', values))).toBe(sentence);
});
