import { fromJson } from '@bufbuild/protobuf';
import { UpgradePayloadSchema } from '@hoodcloud/contracts/wire/agent-v1';
import { undoableActions } from './action-list.ts';
import type { AttemptRecord } from './attempt-record.ts';
import { backupDirOf } from './attempt-run.ts';
import { readBackupManifest } from './backup-manifest.ts';
import type { Component } from './component.ts';
import { readPayload } from './upgrade-request.ts';

/**
 * When an attempt's record was lost (set aside as unreadable) but its backup stands, nothing tells how far it came: a
 * fresh start could take a backup of a half-changed host (A4). So it is undone, every step being in doubt.
 * @returns a record that can only go back; null when the attempt never began on this host
 */
export async function rebuildLostRecord(
  component: Component,
  attemptId: string,
  payload: AttemptRecord['payload'],
  now: number,
): Promise<AttemptRecord | null> {
  const manifest = await readBackupManifest(backupDirOf(component, attemptId));
  if (manifest === null) return null;
  const { hooks } = readPayload(fromJson(UpgradePayloadSchema, payload));
  const status = await component.runtime.status();
  return {
    format: 1,
    attemptId,
    binaryName: component.binaryName,
    payload,
    before: {
      wantedRunning: status.wantedRunning || status.held, // held: the attempt stopped it
      mainPid: null,
      mainPidStartedAt: null,
      installedChecksum: manifest.artifact?.content?.originalChecksum ?? null,
      runningChecksum: null,
    },
    progress: {
      direction: 'undo',
      steps: undoableActions(hooks).map(({ name }) => ({
        name,
        state: 'intended',
        startedAtMs: now,
        durationMs: 0,
        errorMessage: null,
      })),
      installedChecksum: null,
      failure: {
        code: 'record_lost',
        message: 'the record of this attempt could not be read any more, so everything was put back from its backup',
        action: null,
      },
    },
    outcome: null,
    operations: {},
    logTail: [],
    confirmed: false,
    createdAtMs: now,
  };
}
