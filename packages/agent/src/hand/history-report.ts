import { join } from 'node:path';
import type { AgentConfig } from '../agent-config.ts';
import { AgentError } from '../agent-error.ts';
import { readTextIfThere } from '../host/read-if-there.ts';
import { type AttemptRecord, openOperations, undoneByHand } from '../upgrade/attempt-record.ts';
import { FAILED_VERSION_LOG } from '../upgrade/attempt-run.ts';
import { AttemptStore } from '../upgrade/attempt-store.ts';
import { backupRoot, isFolder } from '../upgrade/backup-retention.ts';
import { payloadOf } from './rollback-order.ts';

/** One attempt, as `hoodcloud-agent history` tells it. */
export interface PastAttempt {
  readonly attempt_id: string;
  readonly binary_name: string;
  /** RFC 3339, the host's clock. */
  readonly began_at: string;
  readonly from_version: string;
  readonly to_version: string;
  /** `open`, how it ended on the host, or that a rollback by hand took it back. */
  readonly outcome: 'open' | 'completed' | 'rolled_back' | 'failed_rollback' | 'rolled_back_by_hand';
  readonly confirmed: boolean;
  /** From its first step to the end of its last, in milliseconds. */
  readonly duration_ms: number;
  /** Why it did not go well; null when it did. */
  readonly reason: string | null;
  readonly failed_action: string | null;
  /** A rollback by hand: the attempt as before which everything was put back. */
  readonly undoes: string | null;
  /** Null when it is gone: removed as too old, or never made. */
  readonly backup: string | null;
  /** The failed version's last lines; null when there are none. */
  readonly log: string | null;
  readonly steps: readonly { readonly name: string; readonly state: string; readonly duration_ms: number }[];
}

/** What this host remembers of its attempts, newest first. Asks nobody, changes nothing. */
export async function historyReport(config: AgentConfig, binaryName: string | null): Promise<PastAttempt[]> {
  const records = await AttemptStore.look(config.state_dir, () => undefined).list();
  const wanted = records.filter((record) => binaryName === null || record.binaryName === binaryName);
  return Promise.all(wanted.map((record) => pastAttempt(config, records, record)));
}

/**
 * The log of the version that failed in an attempt, kept with its backup (A18); what the record has of it when that is gone.
 * @throws AgentError `unknown_attempt` | `no_log`
 */
export async function failedVersionLog(config: AgentConfig, attemptId: string): Promise<string> {
  const record = await AttemptStore.look(config.state_dir, () => undefined).load(attemptId);
  if (record === null) {
    throw new AgentError('unknown_attempt', `there is no attempt ${attemptId} here: see \`hoodcloud-agent history\``);
  }
  const dir = backupDirIn(config, record);
  const kept = dir && (await readTextIfThere(join(dir, FAILED_VERSION_LOG)));
  if (kept) return kept.trimEnd();
  if (record.logTail.length > 0) return record.logTail.join('\n');
  throw new AgentError(
    'no_log',
    `attempt ${attemptId} has no log of a failed version: none was started, or it was silent`,
  );
}

async function pastAttempt(
  config: AgentConfig,
  records: readonly AttemptRecord[],
  record: AttemptRecord,
): Promise<PastAttempt> {
  const { steps, failure } = record.progress;
  const { sourceVersion, targetVersion } = payloadOf(record);
  const dir = backupDirIn(config, record);
  const backup = dir !== null && (await isFolder(dir)) ? dir : null;
  const log = backup === null ? null : join(backup, FAILED_VERSION_LOG);
  return {
    attempt_id: record.attemptId,
    binary_name: record.binaryName,
    began_at: new Date(record.createdAtMs).toISOString(),
    from_version: sourceVersion || 'unknown',
    to_version: targetVersion || 'unknown',
    outcome: outcomeOf(records, record),
    confirmed: record.confirmed,
    duration_ms: steps.reduce((sum, { durationMs }) => sum + durationMs, 0),
    reason: failure?.message ?? null,
    failed_action: failure?.action ?? null,
    undoes: record.undoes ?? null,
    backup,
    log: log !== null && (await readTextIfThere(log)) !== null ? log : null,
    steps: steps.map(({ name, state, durationMs }) => ({ name, state, duration_ms: durationMs })),
  };
}

function outcomeOf(records: readonly AttemptRecord[], record: AttemptRecord): PastAttempt['outcome'] {
  if (record.outcome === null || openOperations(record).length > 0) return 'open';
  if (record.outcome === 'completed' && undoneByHand(records, record.attemptId)) return 'rolled_back_by_hand';
  return record.outcome;
}

/** Null for a component that is configured no more. */
function backupDirIn(config: AgentConfig, { binaryName, attemptId }: AttemptRecord): string | null {
  const component = config.components.find(({ binary_name }) => binary_name === binaryName);
  return component === undefined ? null : join(backupRoot(component.data_dir), attemptId);
}
