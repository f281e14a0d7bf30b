import { isoTime } from '../iso-time.ts';
import { reason } from '../reasons.ts';
import { type Hold, OPEN, type StartGate, wait } from './start-gate.ts';

/** What holds a rollout before its time. */
export function startTimeHolds(startAt: number | null | undefined, now: number): Hold[] {
  if (startAt === null || startAt === undefined || startAt <= now) return [];
  const rule = { name: 'start_at', persons: 1 } as const;
  return [{ reason: reason('waiting_for_start_time', { at: isoTime(startAt) }), until: startAt, rule }];
}

/**
 * No node starts before the time that the rollout was made for; it is started all the same, and waits. A retry is a person's
 * order of now, and a rollback may be the cure: both pass.
 */
export const scheduledStart: StartGate = ({ purpose }, { snapshot, now }) =>
  purpose === 'first' ? wait(...startTimeHolds(snapshot.rollout.startAt, now)) : OPEN;
