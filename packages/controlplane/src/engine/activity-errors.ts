import { FileFormatError } from '@hoodcloud/contracts/files/yaml-file';
import { DomainError } from '@hoodcloud/domain/errors';
import { CompleteAsyncError } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';

type Activity = (input: never) => Promise<unknown>;

/**
 * Wraps activities so that what another try can't cure is told as such, once for all of them: a broken rule and a wrong
 * file are not retryable and keep code and sentence; everything else (a database that is away) is tried again (B4a).
 */
export function retryableOnly<Activities>(activities: Activities): Activities {
  const wrapped = Object.entries(activities as Record<string, Activity>).map(([name, run]) => [
    name,
    async (input: never) => {
      try {
        return await run(input);
      } catch (error) {
        throw activityError(error);
      }
    },
  ]);
  return Object.fromEntries(wrapped) as Activities;
}

/** The error as the engine should see it. */
export function activityError(error: unknown): unknown {
  if (error instanceof CompleteAsyncError) return error;
  if (error instanceof DomainError) return ApplicationFailure.nonRetryable(error.message, 'DomainError', error.code);
  if (error instanceof FileFormatError)
    return ApplicationFailure.nonRetryable(error.message, 'FileFormatError', error.code);
  return error;
}
