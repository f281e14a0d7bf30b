import { isHalted } from './chain-height.ts';
import { bareSha256 } from './checksum.ts';
import type { HealthInput, HealthReading } from './health-input.ts';
import { type Reason, reason } from './reasons.ts';

/** What one reading must show; unknown fails where the chain says how to know (D3). */
const HEALTH_CRITERIA = [
  'main_process',
  'expected_version',
  'application',
  'application_known',
  'sync',
  'sync_known',
  'ready',
] as const;
export type HealthCriterionName = (typeof HEALTH_CRITERIA)[number];

interface HealthCriterion {
  readonly fails: (reading: HealthReading, input: HealthInput) => boolean;
  readonly reasonOf: (reading: HealthReading, input: HealthInput) => Reason;
}

/** Whether the runtime shows a main process and calls it active. */
export function hasMainProcess({ active, mainPid }: HealthReading): boolean {
  return active && mainPid !== null && mainPid !== 0;
}

/** Whether the running executable is the one that was installed (D1, A6). */
export function runsExpectedVersion({ runningSha256 }: HealthReading, expected: string | null): boolean {
  if (runningSha256 === null) return false;
  return expected === null || bareSha256(runningSha256) === bareSha256(expected);
}

/** A halted chain makes every node stand and none ready; no node is called failed for it (D4a). */
function chainStands({ chain, now }: HealthInput): boolean {
  return isHalted(chain, now);
}

export const CRITERIA: Readonly<Record<HealthCriterionName, HealthCriterion>> = {
  main_process: {
    fails: (reading) => !hasMainProcess(reading),
    reasonOf: () => reason('no_main_process', { seconds: 0 }),
  },
  expected_version: {
    fails: (reading, { expectedSha256 }) => hasMainProcess(reading) && !runsExpectedVersion(reading, expectedSha256),
    reasonOf: ({ runningSha256 }, { expectedSha256 }) =>
      reason('wrong_version_running', { actual: runningSha256 ?? 'unknown', expected: expectedSha256 ?? 'known' }),
  },
  application: {
    fails: ({ applicationHealth }) => applicationHealth === 'critical',
    reasonOf: () => reason('application_critical'),
  },
  application_known: {
    fails: ({ applicationHealth }, { policy }) => policy.judgesApplication && applicationHealth === 'unknown',
    reasonOf: () => reason('application_unknown'),
  },
  sync: {
    fails: ({ syncStatus }, input) => syncStatus === 'stalled' && !chainStands(input),
    reasonOf: ({ height }) => reason('sync_stalled', { height: height ?? 'unknown' }),
  },
  sync_known: {
    fails: ({ syncStatus }, { policy }) => policy.judgesSync && syncStatus === 'unknown',
    reasonOf: () => reason('sync_unknown'),
  },
  ready: {
    fails: ({ ready }, input) => input.policy.judgesReady && ready !== true && !chainStands(input),
    reasonOf: ({ ready }) =>
      reason('not_ready', { ready: ready === null ? 'unknown: its metrics are missing' : 'false' }),
  },
};

/** Names of the criteria that the reading fails. */
export function failingCriteria(reading: HealthReading, input: HealthInput): HealthCriterionName[] {
  return HEALTH_CRITERIA.filter((name) => CRITERIA[name].fails(reading, input));
}
