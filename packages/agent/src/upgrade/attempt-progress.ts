import type { UpgradeStepName } from '@hoodcloud/domain/upgrade-phase';

/** How far an attempt is, as its record on disk says; all that the executor remembers through a crash (A4, A5). */
export interface AttemptProgress {
  /** `undo` from the moment on that a failure, or a COMPENSATE, decided to go back: never forward again. */
  direction: 'forward' | 'undo';
  /** In the order in which they were begun. */
  steps: StepEntry[];
  /** What `acquire_artifact` learned (A6). */
  installedChecksum: string | null;
  /** Why the attempt goes back; null while it goes forward. */
  failure: AttemptFailure | null;
}

/**
 * `intended` and `undo_intended` are written before the work, the others after it: found on disk, the first two say that
 * the agent died in the middle.
 */
export type StepState =
  | 'intended'
  | 'executed'
  | 'already_done'
  | 'failed'
  | 'undo_intended'
  | 'compensated'
  | 'compensate_failed';

export interface StepEntry {
  readonly name: UpgradeStepName;
  state: StepState;
  /** Milliseconds since the epoch, the host's clock. */
  startedAtMs: number;
  durationMs: number;
  errorMessage: string | null;
}

export interface AttemptFailure {
  readonly code: string;
  /** The sentence that the operator reads. */
  readonly message: string;
  /** Null when no action failed: the command expired, or a COMPENSATE ordered the undo. */
  readonly action: UpgradeStepName | null;
}

/** The progress of an attempt that has not begun. */
export function newProgress(): AttemptProgress {
  return { direction: 'forward', steps: [], installedChecksum: null, failure: null };
}

/** Whether every one of the actions is done: of a record from the disk, all that is left of the way forward is to tell it. */
export function wentAllTheWay({ steps }: AttemptProgress, actions: readonly Pick<StepEntry, 'name'>[]): boolean {
  const done = steps.filter(({ state }) => state === 'executed' || state === 'already_done').map(({ name }) => name);
  return actions.every(({ name }) => done.includes(name));
}
