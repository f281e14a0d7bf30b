import type { RolloutControl, RolloutControlKind } from './rollout-control.ts';

/** What a rollout's controls amount to; each field holds the control in force, null when there is none (C6). */
export interface EffectiveControls {
  readonly start: RolloutControl | null;
  /** A pause that no later resume has lifted. */
  readonly pause: RolloutControl | null;
  /** The latest resume; it acknowledges the failures that came before it (C5). */
  readonly resume: RolloutControl | null;
  /** Sticky: only a later rollback, which is another direction, takes its place. */
  readonly cancel: RolloutControl | null;
  readonly rollback: RolloutControl | null;
  readonly force: RolloutControl | null;
  /** The latest approval; whether it still counts is judged against the canaries (`approvalCounts`). */
  readonly approval: RolloutControl | null;
}

const NONE: EffectiveControls = {
  start: null,
  pause: null,
  resume: null,
  cancel: null,
  rollback: null,
  force: null,
  approval: null,
};

type Step = (before: EffectiveControls, control: RolloutControl) => EffectiveControls;

/** `retry` and `skip` act on rows (requested attempt, status), so they change nothing here. */
const unchanged: Step = (before) => before;

const STEPS: Readonly<Record<RolloutControlKind, Step>> = {
  start: (before, start) => ({ ...before, start }),
  // Nothing but a rollback follows a cancel, so a pause or a resume that slipped in after it does nothing (field-case 90).
  pause: (before, pause) => (before.cancel ? before : { ...before, pause }),
  resume: (before, resume) => (before.cancel ? before : { ...before, resume, pause: null }),
  cancel: (before, cancel) => ({ ...before, cancel, pause: null, rollback: null }),
  // The last one wins and clears what contradicts it (field-cases 92, 94).
  rollback: (before, rollback) => ({ ...before, rollback, cancel: null, pause: null }),
  force: (before, force) => ({ ...before, force }),
  approve_canary: (before, approval) => ({ ...before, approval }),
  retry: unchanged,
  skip: unchanged,
};

/** Folds the controls, oldest first, into what is in force now. */
export function effectiveControls(controls: readonly RolloutControl[]): EffectiveControls {
  return controls.reduce((before, control) => STEPS[control.kind](before, control), NONE);
}
