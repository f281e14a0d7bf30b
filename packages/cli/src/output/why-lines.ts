import type { ReasonView } from '@hoodcloud/contracts/http/common';
import { nextStep } from '@hoodcloud/contracts/http/view-text';

interface Standing {
  readonly why: readonly ReasonView[];
  readonly status_reason?: ReasonView | null;
}

/** Why it waits, one sentence a line, then what to do about it; what is shown as its reason already is left out. */
export function whyLines({ why, status_reason: shown = null }: Standing): string[] {
  const lines = why
    .filter(({ sentence }) => sentence !== shown?.sentence)
    .map(({ sentence }) => `Waiting: ${sentence}\n`);
  const next = nextStep(why);
  return next === null ? lines : [...lines, `What to do: ${next}\n`];
}
