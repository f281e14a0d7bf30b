import { namesIn } from './unit-values.ts';

/** What is asked about the set-up of a unit, as opposed to what it does now (`UNIT_PROPERTIES`). */
export const UNIT_SETTINGS = [
  'Id',
  'LoadState',
  'ActiveState',
  'Job',
  'ConditionResult',
  'Type',
  'Transient',
  'RemainAfterExit',
  'RefuseManualStart',
  'RefuseManualStop',
  'TimeoutStopUSec',
  'JobTimeoutUSec',
  'JobRunningTimeoutUSec',
  'KillMode',
  'SendSIGKILL',
  'SuccessAction',
  'FailureAction',
  'StartLimitAction',
  'ExecStartPre',
  'OnFailure',
  'OnSuccess',
  'TriggeredBy',
  ...['RequiredBy', 'RequisiteOf', 'BoundBy', 'ConsistsOf', 'PropagatesStopTo'],
] as const;

/** How a unit is set up, as systemd has read it. */
export interface UnitSettings {
  readonly id: string;
  readonly loadState: string;
  readonly activeState: string;
  readonly jobQueued: boolean;
  readonly conditionMet: boolean;
  readonly type: string;
  readonly transient: boolean;
  readonly remainsAfterExit: boolean;
  readonly refusesManualStart: boolean;
  readonly refusesManualStop: boolean;
  readonly stopTimeout: string;
  /** What would end a job, or act on the whole machine, by `Setting=value`; empty when nothing would. */
  readonly drastic: readonly string[];
  readonly killMode: string;
  readonly sendsSigkill: boolean;
  /** Commands that run before each start, as systemd prints them. */
  readonly startPre: string;
  readonly onFailure: readonly string[];
  readonly onSuccess: readonly string[];
  /** Path, timer and socket units that start it. */
  readonly triggeredBy: readonly string[];
  /** Units that systemd stops when it stops this one. */
  readonly stoppedWithIt: readonly string[];
}

const DRASTIC = [
  ['JobTimeoutUSec', 'infinity'],
  ['JobRunningTimeoutUSec', 'infinity'],
  ['SuccessAction', 'none'],
  ['FailureAction', 'none'],
  ['StartLimitAction', 'none'],
] as const;

export function parseSettings(values: ReadonlyMap<string, string>): UnitSettings {
  const value = (key: (typeof UNIT_SETTINGS)[number]) => values.get(key) ?? '';
  const is = (key: (typeof UNIT_SETTINGS)[number]) => value(key) === 'yes';
  const stopped = ['RequiredBy', 'RequisiteOf', 'BoundBy', 'ConsistsOf', 'PropagatesStopTo'] as const;
  return {
    id: value('Id'),
    loadState: value('LoadState'),
    activeState: value('ActiveState'),
    jobQueued: !['', '0'].includes(value('Job')),
    conditionMet: value('ConditionResult') !== 'no',
    type: value('Type'),
    transient: is('Transient'),
    remainsAfterExit: is('RemainAfterExit'),
    refusesManualStart: is('RefuseManualStart'),
    refusesManualStop: is('RefuseManualStop'),
    stopTimeout: value('TimeoutStopUSec'),
    drastic: DRASTIC.filter(([key, harmless]) => !['', harmless].includes(value(key))).map(
      ([key]) => `${key.replace('USec', 'Sec')}=${value(key)}`,
    ),
    killMode: value('KillMode'),
    sendsSigkill: is('SendSIGKILL'),
    startPre: value('ExecStartPre'),
    onFailure: namesIn(value('OnFailure')),
    onSuccess: namesIn(value('OnSuccess')),
    triggeredBy: namesIn(value('TriggeredBy')),
    stoppedWithIt: [...new Set(stopped.flatMap((key) => namesIn(value(key))))],
  };
}
