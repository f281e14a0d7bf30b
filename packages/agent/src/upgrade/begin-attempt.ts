import { AgentError } from '../agent-error.ts';
import type { Order } from './attempt-operations.ts';
import { newProgress } from './attempt-progress.ts';
import type { AttemptRecord } from './attempt-record.ts';

/**
 * The record of an attempt that begins now, not yet on the disk: how the service was found comes first (A3).
 * @throws AgentError `host_unsettled` while an earlier attempt holds the service down
 */
export async function beginAttempt(
  { request, component, payload, undoes, ...order }: Order,
  now: number,
): Promise<AttemptRecord> {
  const { held, ...before } = await component.runtime.status();
  if (held) {
    throw new AgentError(
      'host_unsettled',
      `${component.runtime.serviceName()} is still held down by an earlier attempt that could not be undone: repair it, start it, then try again`,
    );
  }
  const { mainPid, mainPidStartedAt, installedChecksum, runningChecksum } = before;
  const wantedRunning = order.wantedRunning ?? before.wantedRunning;
  return {
    format: 1,
    attemptId: request.attemptId,
    binaryName: request.binaryName,
    payload,
    before: { wantedRunning, mainPid, mainPidStartedAt, installedChecksum, runningChecksum },
    progress: newProgress(),
    outcome: null,
    operations: {},
    logTail: [],
    confirmed: false,
    createdAtMs: now,
    ...(undoes !== undefined && { undoes }),
  };
}
