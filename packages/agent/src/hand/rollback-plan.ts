import { AgentError } from '../agent-error.ts';
import { type AttemptRecord, undoneByHand } from '../upgrade/attempt-record.ts';
import { recordedRequest } from '../upgrade/upgrade-request.ts';

/**
 * What `hoodcloud-agent rollback` does to a component.
 * - `finish`: an earlier rollback by hand was interrupted; it goes on where it stood.
 * - `take_back`: an attempt is open and nobody works on it, or its undo had failed: it is undone from its record.
 * - `go_back`: the attempt had ended well: a new attempt puts back what its backup holds.
 */
export type RollbackPlan =
  | { readonly kind: 'finish' | 'take_back'; readonly record: AttemptRecord }
  | { readonly kind: 'go_back'; readonly record: AttemptRecord; readonly configs: readonly ConfigToPutBack[] };

/** A config, and the attempt in whose backup it is as it was before. */
export interface ConfigToPutBack {
  readonly path: string;
  readonly attemptId: string;
}

/**
 * Chooses what a rollback of one component means now.
 * @param records of the component, newest first
 * @param wanted attempt as before which everything is wanted; null: the latest that stands
 * @param isUnderWay whether somebody works on an attempt at this moment
 * @throws AgentError `attempt_under_way` | `rolled_back_already` | `unknown_attempt` | `nothing_to_roll_back`
 */
export function planRollback(
  records: readonly AttemptRecord[],
  wanted: string | null,
  isUnderWay: (attemptId: string) => boolean,
): RollbackPlan {
  const latest = records.find(({ outcome }) => outcome !== 'rolled_back');
  if (latest !== undefined && latest.outcome !== 'completed') return planUnsettled(latest, isUnderWay);
  const record = wanted === null ? latestStanding(records) : named(records, wanted);
  if (record.before.installedChecksum === null) {
    const why = `nothing was installed before attempt ${record.attemptId}, so there is nothing to go back to`;
    throw new AgentError('nothing_to_roll_back', why);
  }
  return { kind: 'go_back', record, configs: configsBefore(records, record) };
}

function planUnsettled(record: AttemptRecord, isUnderWay: (attemptId: string) => boolean): RollbackPlan {
  if (isUnderWay(record.attemptId)) {
    throw new AgentError(
      'attempt_under_way',
      `the agent works on attempt ${record.attemptId} at this moment: see \`hoodcloud-agent status\`, and roll back when it has ended`,
    );
  }
  const kind = record.undoes !== undefined && record.progress.direction === 'forward' ? 'finish' : 'take_back';
  return { kind, record };
}

/** Said twice, a rollback must not bring the left version back: undoing a rollback needs its name. */
function latestStanding(records: readonly AttemptRecord[]): AttemptRecord {
  const latest = records.find(({ outcome }) => outcome === 'completed');
  if (latest === undefined) {
    throw new AgentError('nothing_to_roll_back', 'no upgrade of this component stands on this host: nothing to undo');
  }
  if (latest.undoes === undefined) return latest;
  throw new AgentError(
    'rolled_back_already',
    `attempt ${latest.undoes} was rolled back by hand already, by ${latest.attemptId}: to take that rollback back, say --attempt ${latest.attemptId}; for an earlier state, name the attempt before which you want to be`,
  );
}

function named(records: readonly AttemptRecord[], attemptId: string): AttemptRecord {
  const record = records.find((one) => one.attemptId === attemptId);
  if (record === undefined) {
    throw new AgentError('unknown_attempt', `there is no attempt ${attemptId} here: see \`hoodcloud-agent history\``);
  }
  if (record.outcome === 'completed' && undoneByHand(records, attemptId) === undefined) return record;
  throw new AgentError('nothing_to_roll_back', `attempt ${attemptId} was undone already: nothing of it stands`);
}

/** Configs as they were before the attempt: each from the oldest backup since then that has it. */
function configsBefore(records: readonly AttemptRecord[], since: AttemptRecord): ConfigToPutBack[] {
  const found = new Map<string, string>();
  for (const record of records) {
    if (record.createdAtMs < since.createdAtMs || record.outcome !== 'completed') continue;
    for (const { path } of recordedRequest(record).configFiles) found.set(path, record.attemptId);
  }
  return [...found].map(([path, attemptId]) => ({ path, attemptId }));
}
