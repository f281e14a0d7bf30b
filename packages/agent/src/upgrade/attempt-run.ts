import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fromJson } from '@bufbuild/protobuf';
import { CommandResultSchema } from '@hoodcloud/contracts/wire/agent-v1';
import { hookPointOf } from '@hoodcloud/domain/vendor-hook';
import type { Logger } from 'pino';
import { replaceFile } from '../host/atomic-file.ts';
import type { FaultPoint } from '../host/fault-point.ts';
import { readTextIfThere } from '../host/read-if-there.ts';
import { tellingLines } from '../runtime/telling-line.ts';
import { actionsOfConfirmation, actionsWith, undoableActions } from './action-list.ts';
import { hookLogName } from './actions/vendor-hook.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { AttemptStore } from './attempt-store.ts';
import { BACKUP_FILE_MODE } from './backup-manifest.ts';
import { backupRoot, listBackups } from './backup-retention.ts';
import type { Component } from './component.ts';
import { runErrorSteps } from './error-steps.ts';
import { type ExecutionOutcome, type ExecutionParams, type ExecutionProgress, execute } from './executor.ts';
import { recordedRequest, type UpgradeRequest } from './upgrade-request.ts';

/** The failed version's last lines, beside its backup (A18). */
export const FAILED_VERSION_LOG = 'failed-version.log';
const KEPT_LOG_LINES = 200;
const TOLD_LOG_LINES = 20;
const TOLD_LINE_CHARACTERS = 2_000;

export interface RunEnvironment {
  readonly store: AttemptStore;
  readonly log: Logger;
  readonly faultPoint: FaultPoint;
  readonly now: () => number;
}

/**
 * Runs an attempt from where its record stands, in the record's direction, and leaves every step in the record.
 * @param way what lies ahead; the way back is the same for both
 */
export async function runAttempt(
  environment: RunEnvironment,
  component: Component,
  record: AttemptRecord,
  request: UpgradeRequest,
  onProgress: (progress: ExecutionProgress) => void,
  way: 'upgrade' | 'confirmation' = 'upgrade',
): Promise<ExecutionOutcome> {
  const { store, log, faultPoint, now } = environment;
  const onSaveFailed = (error: unknown) =>
    log.error({ err: error, attempt: record.attemptId }, 'the record could not be written');
  const actions = way === 'upgrade' ? actionsWith(request.hooks) : actionsOfConfirmation(request.hooks);
  const params = await paramsOfAttempt(environment, component, record, request);
  return execute({
    actions,
    undo: undoableActions(request.hooks),
    params,
    progress: record.progress,
    save: () => store.save(record),
    onSaveFailed,
    beforeUndo: async () => {
      await keepLog(environment, component, record);
      await runErrorSteps({
        hooks: request.hooks,
        progress: record.progress,
        run: params,
        save: () => store.save(record).catch(onSaveFailed),
        onProgress: (action, note) =>
          onProgress({ actionIndex: actions.length, action, progressPct: 0, phase: 'ROLLBACKING', note }),
        faultPoint,
        now,
      });
    },
    onProgress,
    faultPoint,
    now,
  });
}

/** What the actions of an attempt get: from its command, from the host's records, and how the service was found. */
export async function paramsOfAttempt(
  { store }: RunEnvironment,
  component: Component,
  record: AttemptRecord,
  request: UpgradeRequest,
): Promise<ExecutionParams> {
  const backupDir = backupDirOf(component, record.attemptId);
  const backups = await listBackups(backupRoot(component.dataDir));
  const putBack = await putBackByHand(store, record);
  return {
    runtime: component.runtime,
    artifact: request.artifact,
    configFiles: request.configFiles.map(({ restoreAttemptId, ...file }) => ({
      ...file,
      lastWrittenChecksum: putBack.has(file.path) ? (putBack.get(file.path) ?? null) : file.lastWrittenChecksum,
      ...(restoreAttemptId !== null && { restoreFrom: backupDirOf(component, restoreAttemptId) }),
    })),
    driftPolicy: request.driftPolicy,
    driftReporting: {
      showDiff: request.showDrift,
      lastWritten: (path, checksum) => lastWritten(store, component, path, checksum),
      tell: (drift) => {
        const others = (record.configDrifts ?? []).filter(({ path }) => path !== drift.path);
        record.configDrifts = [...others, drift];
      },
    },
    backupDir,
    earlierBackupDirs: backups.filter((dir) => dir !== backupDir),
    budgets: request.budgets,
    before: record.before,
  };
}

/**
 * What a rollback by hand put back was written by us, and the control plane doesn't know of it: without this the next
 * upgrade would take it for an operator's edit (E4). Null: the file was removed.
 */
async function putBackByHand(store: AttemptStore, record: AttemptRecord): Promise<Map<string, string | null>> {
  const earlier = (await store.list()).filter(
    ({ binaryName, outcome, createdAtMs }) =>
      binaryName === record.binaryName && outcome === 'completed' && createdAtMs < record.createdAtMs,
  );
  const putBack = new Map<string, string | null>();
  for (const byHand of earlier.toReversed()) {
    const { configFiles } = recordedRequest(byHand);
    const { configChecksums } = fromJson(CommandResultSchema, byHand.operations.UPGRADE?.result ?? {});
    for (const { path } of configFiles) {
      if (byHand.undoes === undefined) putBack.delete(path);
      else putBack.set(path, configChecksums[path] ?? null);
    }
  }
  return putBack;
}

/** `{data_dir}/.upgrade-backup/{attempt_id}` (spec "Backup Directory", A5). */
export function backupDirOf(component: Component, attemptId: string): string {
  return join(backupRoot(component.dataDir), attemptId);
}

/** The content that an attempt wrote there, as its record keeps it. */
async function lastWritten(
  store: AttemptStore,
  { binaryName }: Component,
  path: string,
  checksum: string,
): Promise<Uint8Array | null> {
  for (const record of await store.list()) {
    if (record.binaryName !== binaryName) continue;
    const file = recordedRequest(record).configFiles.find((config) => config.path === path);
    if (file?.checksum === checksum) return file.content;
  }
  return null;
}

/** The failed version's log, before the undo starts another one: kept beside the backup and told in the result (A18). */
async function keepLog({ log }: RunEnvironment, component: Component, record: AttemptRecord): Promise<void> {
  if (await keepHookWords(record, component)) return;
  const wasStarted = record.progress.steps.some(({ name, state }) => name === 'start_node' && state !== 'already_done');
  if (!wasStarted || record.logTail.length > 0) return;
  try {
    const lines = await component.runtime.logTail(KEPT_LOG_LINES);
    record.logTail = tellingLines(lines, TOLD_LOG_LINES).map((line) => line.slice(0, TOLD_LINE_CHARACTERS));
    const dir = backupDirOf(component, record.attemptId);
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    await replaceFile(join(dir, FAILED_VERSION_LOG), `${lines.join('\n')}\n`, { mode: BACKUP_FILE_MODE, ...owner });
  } catch (error) {
    // a missing log must not keep the old version from coming back
    log.warn({ err: error, attempt: record.attemptId }, 'the log of the failed version could not be kept');
  }
}

/** Of a vendor's step that failed: its own last lines, which lie beside the backup already. */
async function keepHookWords(record: AttemptRecord, component: Component): Promise<boolean> {
  const step = record.progress.failure?.action ?? null;
  if (step === null || hookPointOf(step) === null) return false;
  const said = await readTextIfThere(join(backupDirOf(component, record.attemptId), hookLogName(step, 'step')));
  const lines = said?.trimEnd().split('\n') ?? [];
  record.logTail = lines.slice(-TOLD_LOG_LINES).map((line) => line.slice(0, TOLD_LINE_CHARACTERS));
  return true;
}
