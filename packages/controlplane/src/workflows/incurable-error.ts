import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** The sentence of an activity's error that another try can't cure; null for every other error. */
export function incurable(error: unknown): string | null {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.nonRetryable ? cause.message : null;
}
