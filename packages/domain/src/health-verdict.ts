import { CRITERIA, failingCriteria, hasMainProcess, runsExpectedVersion } from './health-criteria.ts';
import type { HealthInput, HealthReading } from './health-input.ts';
import { isoTime } from './iso-time.ts';
import { type Reason, reason } from './reasons.ts';

export { DEFAULT_HEALTH_POLICY, type HealthInput, type HealthPolicy, type HealthReading } from './health-input.ts';

export type HealthVerdict =
  | { readonly kind: 'healthy' }
  | { readonly kind: 'failed'; readonly reasons: readonly Reason[] }
  | { readonly kind: 'wait'; readonly reasons: readonly Reason[]; readonly until: number };

/** Readings that count: after the result, from the current session, oldest first (D1). */
function freshReadings({ readings, commandEndedAt, sessionId }: HealthInput): HealthReading[] {
  return readings
    .filter((reading) => reading.receivedAt > commandEndedAt && reading.sessionId === sessionId)
    .toSorted((a, b) => a.receivedAt - b.receivedAt);
}

/** Restarts since the command ended, as far as readings show them; a counter that was reset starts anew. */
export function newRestarts(readings: readonly HealthReading[], restartsAtStart: number | null = null): number {
  let sum = 0;
  let before = restartsAtStart;
  for (const { restarts } of readings) {
    if (restarts === null) continue;
    if (before !== null) sum += restarts >= before ? restarts - before : restarts;
    before = restarts;
  }
  return sum;
}

/** Since when, at the end of the readings, no main process was seen; null when the last reading has one. */
function withoutProcessSince(readings: readonly HealthReading[]): number | null {
  let since: number | null = null;
  for (const { mainPid, receivedAt } of readings) {
    if (mainPid === null || mainPid === 0) since ??= receivedAt;
    else since = null;
  }
  return since;
}

/** What fails a node at once, before its time is over: a crash loop, or no process for too long (D3, field-case 123). */
function crashed(readings: readonly HealthReading[], { policy, restartsAtStart }: HealthInput): Reason | null {
  const restarts = newRestarts(readings, restartsAtStart ?? null);
  if (restarts > policy.maxRestarts) return reason('crash_loop', { restarts });
  const since = withoutProcessSince(readings);
  const last = readings.at(-1);
  if (since === null || last === undefined) return null;
  const gone = last.receivedAt - since;
  return gone >= policy.noMainProcessMs ? reason('no_main_process', { seconds: Math.floor(gone / 1000) }) : null;
}

function isSameProcess(a: HealthReading, b: HealthReading): boolean {
  return a.mainPid === b.mainPid && a.mainPidStartedAt === b.mainPidStartedAt && a.restarts === b.restarts;
}

/** For how long, up to the last reading, one and the same process of the new version has shown life (D4c). */
function stableMs(readings: readonly HealthReading[], { expectedSha256 }: HealthInput): number {
  const last = readings.at(-1);
  if (last === undefined) return 0;
  let since = last.receivedAt;
  for (const reading of readings.toReversed()) {
    const alive = hasMainProcess(reading) && runsExpectedVersion(reading, expectedSha256);
    if (!alive || !isSameProcess(reading, last)) break;
    since = reading.receivedAt;
  }
  return last.receivedAt - since;
}

/** Criteria that failed in each of the last readings, as many as the policy asks for (D4). */
function persistentFailures(readings: readonly HealthReading[], input: HealthInput): Reason[] {
  const last = readings.slice(-input.policy.consecutive);
  if (last.length < input.policy.consecutive) return [];
  const [first, ...others] = last.map((reading) => failingCriteria(reading, input));
  const inAll = (first ?? []).filter((name) => others.every((names) => names.includes(name)));
  const latest = last.at(-1);
  return latest === undefined ? [] : inAll.map((name) => CRITERIA[name].reasonOf(latest, input));
}

/** Criteria that any of the last readings failed, each with the newest reading that did. */
function recentFailures(readings: readonly HealthReading[], input: HealthInput): Reason[] {
  const found = new Map<string, Reason>();
  for (const reading of readings.slice(-input.policy.consecutive)) {
    for (const name of failingCriteria(reading, input)) found.set(name, CRITERIA[name].reasonOf(reading, input));
  }
  return [...found.values()];
}

/** What is not good, or not known well enough, at the end of the readings. */
function doubts(readings: readonly HealthReading[], input: HealthInput): Reason[] {
  const { policy, now, nodeState } = input;
  const found: Reason[] = [];
  const last = readings.at(-1);
  if (nodeState === 'down' || nodeState === 'failed') found.push(reason('node_down', { state: nodeState }));
  if (last === undefined) return [...found, reason('no_fresh_heartbeat')];
  const age = now - last.receivedAt;
  if (age > policy.maxReadingAgeMs) found.push(reason('heartbeats_stopped', { seconds: Math.floor(age / 1000) }));
  found.push(...recentFailures(readings, input));
  if (found.length > 0) return found;
  const stable = stableMs(readings, input);
  if (stable >= policy.minStableMs) return [];
  const wanted = Math.ceil(policy.minStableMs / 1000);
  return [reason('not_stable_yet', { seconds: Math.floor(stable / 1000), wanted })];
}

/**
 * Whether an upgraded node has proved itself (spec "WaitForHealthValidation", D1-D4c). Early only when it crashes;
 * healthy only when the waiting time is over and the last readings are good; failed when a criterion failed in
 * consecutive readings at the end, or when proof did not come within the grace time. Unknown is never healthy, and a
 * halted chain fails no node.
 */
export function judgeHealth(input: HealthInput): HealthVerdict {
  const { now, commandEndedAt, policy } = input;
  const readings = freshReadings(input);
  const crash = crashed(readings, input);
  if (crash) return { kind: 'failed', reasons: [crash] };
  const windowEnd = commandEndedAt + policy.waitMs;
  const open = doubts(readings, input);
  if (now < windowEnd) {
    const watching = reason('health_window', { until: isoTime(windowEnd) });
    return { kind: 'wait', reasons: [watching, ...open], until: windowEnd };
  }
  if (open.length === 0) return { kind: 'healthy' };
  const persistent = persistentFailures(readings, input);
  if (persistent.length > 0) return { kind: 'failed', reasons: persistent };
  const deadline = windowEnd + policy.graceMs;
  return now < deadline ? { kind: 'wait', reasons: open, until: deadline } : { kind: 'failed', reasons: open };
}
