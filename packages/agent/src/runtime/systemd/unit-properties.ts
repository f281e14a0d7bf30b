import type { RuntimeStatus } from '../runtime-adapter.ts';
import { namesIn, readProperties } from './unit-values.ts';

/** What is asked of `systemctl show`. It answers in an order of its own, so values are found by name. */
export const UNIT_PROPERTIES = [
  'LoadState',
  'ActiveState',
  'SubState',
  'Job',
  'MainPID',
  'NRestarts',
  'ControlGroup',
  'NeedDaemonReload',
  'Result',
  'ExecMainCode',
  'ExecMainStatus',
  'ConditionResult',
  'ConditionTimestampMonotonic',
  'Restart',
  'KillMode',
  'KillSignal',
  'RootDirectory',
  'InvocationID',
  'FragmentPath',
  'DropInPaths',
] as const;

/** One look at a unit, as systemd described it. */
export interface UnitView {
  readonly loadState: string;
  readonly activeState: string;
  readonly subState: string;
  readonly jobQueued: boolean;
  readonly mainPid: number | null;
  readonly restarts: number;
  /** Path of the unit's cgroup below the cgroup root; '' when it has none. */
  readonly controlGroup: string;
  readonly needsReload: boolean;
  /** Why the last run ended: `success`, `exit-code`, `signal`, `timeout`, `start-limit-hit`, … */
  readonly result: string;
  readonly exitedBySignal: boolean;
  /** Exit code of the last main process, or its signal. */
  readonly exitStatus: number;
  readonly conditionMet: boolean;
  /** Microseconds since boot of the latest check of its conditions; 0 before the first. */
  readonly conditionCheckedAt: number;
  readonly restartsByItself: boolean;
  readonly killMode: string;
  /** Number of the signal that asks it to stop. */
  readonly killSignal: number;
  /** The folder that is `/` for its processes; '' when it is the host's. */
  readonly rootDirectory: string;
  readonly invocationId: string;
  /** The unit file and its drop-ins. */
  readonly files: readonly string[];
}

/** CLD_KILLED and CLD_DUMPED of waitid(2): the main process was ended by a signal. */
const ENDED_BY_SIGNAL = ['2', '3'];

/** Reads the KEY=VALUE lines of `systemctl show`; a property that systemd left out is ''. */
export function parseUnit(output: string): UnitView {
  const values = readProperties(output);
  const value = (key: (typeof UNIT_PROPERTIES)[number]) => values.get(key) ?? '';
  const mainPid = Number(value('MainPID'));
  return {
    loadState: value('LoadState'),
    activeState: value('ActiveState'),
    subState: value('SubState'),
    jobQueued: !['', '0'].includes(value('Job')),
    mainPid: mainPid > 0 ? mainPid : null,
    restarts: Number(value('NRestarts')),
    controlGroup: value('ControlGroup'),
    needsReload: value('NeedDaemonReload') === 'yes',
    result: value('Result'),
    exitedBySignal: ENDED_BY_SIGNAL.includes(value('ExecMainCode')),
    exitStatus: Number(value('ExecMainStatus')),
    conditionMet: value('ConditionResult') !== 'no',
    conditionCheckedAt: Number(value('ConditionTimestampMonotonic')),
    restartsByItself: !['', 'no'].includes(value('Restart')),
    killMode: value('KillMode'),
    killSignal: Number(value('KillSignal')),
    rootDirectory: value('RootDirectory'),
    invocationId: value('InvocationID'),
    files: namesIn(`${value('FragmentPath')} ${value('DropInPaths')}`),
  };
}

/**
 * The state of a unit in the words of the adapter's contract. `stopped` is inactive or failed, no job queued and no
 * process left in its cgroup; a unit that waits in auto-restart is not stopped (A3).
 */
export function unitState(view: UnitView, processes: number): RuntimeStatus['state'] {
  switch (view.activeState) {
    case 'active':
    case 'reloading':
    case 'refreshing':
      return 'running';
    case 'activating':
      return view.subState.startsWith('auto-restart') ? 'waiting_restart' : 'starting';
    case 'deactivating':
      return 'stopping';
    default:
      if (view.jobQueued) return 'starting';
      return processes > 0 ? 'stopping' : 'stopped';
  }
}

/** Whether the operator wants the unit to run: one that is ending by itself will be started again by its `Restart=`. */
export function wantedRunning(view: UnitView, state: RuntimeStatus['state']): boolean {
  if (state === 'stopping') return view.activeState === 'deactivating' && !view.jobQueued && view.restartsByItself;
  return state !== 'stopped';
}

/** How the last main process ended, as an operator would say it. */
export function describeEnd(view: UnitView): string {
  if (view.result === 'timeout') return 'it did not become ready within its start time-out';
  if (view.exitedBySignal) return `it was ended by signal ${view.exitStatus}`;
  if (view.exitStatus === 203) return 'it could not be executed (status 203/EXEC)';
  return `it exited with code ${view.exitStatus}`;
}
