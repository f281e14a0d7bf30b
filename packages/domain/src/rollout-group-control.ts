import type { RolloutGroupStatus } from './rollout-group-status.ts';

/** What a person can order for a group: the signals of spec "RolloutGroupWorkflow", and its start (C1). */
export const ROLLOUT_GROUP_CONTROLS = ['start', 'pause', 'resume', 'cancel', 'rollback', 'skip'] as const;
export type RolloutGroupControlKind = (typeof ROLLOUT_GROUP_CONTROLS)[number];

/** One stored control, oldest first in a snapshot. Times are epoch milliseconds. */
export interface RolloutGroupControl {
  readonly id: string;
  readonly kind: RolloutGroupControlKind;
  readonly actor: string;
  readonly reason: string | null;
  readonly createdAt: number;
  /** `skip` names a component; null for the others. */
  readonly componentIndex: number | null;
}

/** Statuses in which each control is legal (C3, C6); what the components add is in `group-control-verdict.ts`. */
export const GROUP_CONTROL_LEGAL_IN: Readonly<Record<RolloutGroupControlKind, readonly RolloutGroupStatus[]>> = {
  start: ['pending'],
  pause: ['running'],
  resume: ['running', 'paused'],
  cancel: ['pending', 'running', 'paused'],
  rollback: ['running', 'paused', 'completed', 'failed', 'canceled', 'partial'],
  skip: ['running', 'paused'],
};

/** What a group's controls amount to; null where none is in force (C6). */
export interface EffectiveGroupControls {
  readonly start: RolloutGroupControl | null;
  /** A pause that no later resume has lifted. */
  readonly pause: RolloutGroupControl | null;
  readonly resume: RolloutGroupControl | null;
  /** Sticky: only a later rollback takes its place. */
  readonly cancel: RolloutGroupControl | null;
  readonly rollback: RolloutGroupControl | null;
  /** By component index. */
  readonly skips: ReadonlyMap<number, RolloutGroupControl>;
}

const NONE: EffectiveGroupControls = {
  start: null,
  pause: null,
  resume: null,
  cancel: null,
  rollback: null,
  skips: new Map(),
};

type Step = (before: EffectiveGroupControls, control: RolloutGroupControl) => EffectiveGroupControls;

const STEPS: Readonly<Record<RolloutGroupControlKind, Step>> = {
  start: (before, start) => ({ ...before, start }),
  // Nothing but a rollback follows a cancel (field-case 90).
  pause: (before, pause) => (before.cancel ? before : { ...before, pause }),
  resume: (before, resume) => (before.cancel ? before : { ...before, resume, pause: null }),
  cancel: (before, cancel) => ({ ...before, cancel, pause: null, rollback: null }),
  // The last one wins and clears what contradicts it (field-cases 92, 94).
  rollback: (before, rollback) => ({ ...before, rollback, cancel: null, pause: null }),
  skip: (before, skip) =>
    before.cancel || skip.componentIndex === null
      ? before
      : { ...before, skips: new Map([...before.skips, [skip.componentIndex, skip]]) },
};

/** Folds the controls, oldest first, into what is in force now. */
export function effectiveGroupControls(controls: readonly RolloutGroupControl[]): EffectiveGroupControls {
  return controls.reduce((before, control) => STEPS[control.kind](before, control), NONE);
}
