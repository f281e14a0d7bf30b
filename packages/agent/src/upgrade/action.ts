import type { UpgradeStepName } from '@hoodcloud/domain/upgrade-phase';
import type { RuntimeAdapter, WantedArtifact } from '../runtime/runtime-adapter.ts';
import type { DriftReporting } from './drift-reporting.ts';

/** One primitive of an upgrade (spec "UpgradeAction Interface"): what happens; the adapter knows how. */
export interface UpgradeAction {
  readonly name: UpgradeStepName;
  /** Time budget in milliseconds, from the chain's budgets. */
  readonly timeoutMs: (params: Pick<ActionParams, 'budgets'>) => number;
  /** Whether the host already shows the result; then it is not executed, and not undone either (A3). */
  readonly isAlreadyDone: (params: ActionParams) => Promise<boolean>;
  /**
   * True when a crash in the middle leaves nothing that an undo would take back. Its intent is then written with the next
   * action's: a write of its own would be downtime and tell nobody anything.
   */
  readonly leavesNothingInDoubt?: (params: Pick<ActionParams, 'configFiles'>) => boolean;
  readonly execute: (params: ActionParams) => Promise<void>;
  /** Safe when `execute` ran fully, partly, twice or not at all (A2). A no-op says why. */
  readonly compensate: (params: ActionParams) => Promise<void>;
  /**
   * Time budget of the undo in milliseconds, by default that of the action; `null` when it waits for something that
   * nobody may cut short: a process that is still stopping (A7). It must then bound its other work itself.
   */
  readonly undoTimeoutMs?: (params: Pick<ActionParams, 'budgets'>) => number | null;
  /** Undone after everything else, whatever its place: the service starts when all is as it was (A1). */
  readonly undoneLast?: boolean;
}

/** What an action gets. Everything that it learned before is in the attempt's record or on the host, never in memory. */
export interface ActionParams {
  readonly runtime: RuntimeAdapter;
  readonly artifact: WantedArtifact;
  readonly configFiles: readonly ConfigFileToWrite[];
  readonly driftPolicy: 'fail' | 'overwrite';
  readonly driftReporting: DriftReporting;
  /** `{data_dir}/.upgrade-backup/{attempt_id}` */
  readonly backupDir: string;
  /** Backups of earlier attempts, newest first. */
  readonly earlierBackupDirs: readonly string[];
  readonly budgets: ActionBudgets;
  /** How the service was found before the upgrade began; recorded first (A3). */
  readonly before: BeforeState;
  /** Checksum of what gets installed, as soon as it is known: an archive's member differs from the archive (A6). */
  readonly installedChecksum: string | null;
  /**
   * This action's intent was found on disk without its result: the agent died in the middle. What the host shows may be
   * our own half-done work, and somebody may have started the node meanwhile (A4).
   */
  readonly inDoubt: boolean;
  /** Keeps what an action learned in the attempt's record, written with the action's result. */
  readonly learn: (learned: Pick<ActionParams, 'installedChecksum'>) => void;
  /** Aborts when the action's budget ends. */
  readonly signal: AbortSignal;
  readonly onProgress: (progressPct: number, note: string) => void;
}

export interface ConfigFileToWrite {
  readonly path: string;
  /** Backup folder from which the file is put back, instead of writing `content` (C3). */
  readonly restoreFrom?: string;
  readonly content: Uint8Array;
  /** `sha256:<hex>` of `content`. */
  readonly checksum: string;
  /** What we last wrote there; null when we never did (E4). */
  readonly lastWrittenChecksum: string | null;
}

/** Times in milliseconds. Defaults are the specification's. */
export interface ActionBudgets {
  readonly backupMs: number;
  readonly acquireMs: number;
  readonly verifyMs: number;
  readonly stopMs: number;
  readonly installMs: number;
  readonly configsMs: number;
  readonly reloadMs: number;
  readonly startMs: number;
  readonly stableMs: number;
  /** Restarts that a start, the undo's too, may use up before it has failed. */
  readonly toleratedRestarts: number;
}

export interface BeforeState {
  readonly wantedRunning: boolean;
  readonly mainPid: number | null;
  readonly mainPidStartedAt: number | null;
  readonly installedChecksum: string | null;
  readonly runningChecksum: string | null;
}
