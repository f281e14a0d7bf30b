import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';

/** Errors that another try can't cure: a rule was broken, an input is wrong. Mapped once, in engine/activity-errors.ts. */
const NON_RETRYABLE = ['DomainError', 'FileFormatError', 'ConfigRenderError'];

/** Infrastructure errors are tried again without limit, until the activity's own time is up (B4a). */
const WITHOUT_LIMIT = {
  initialInterval: '500ms',
  backoffCoefficient: 2,
  maximumInterval: '30s',
  nonRetryableErrorTypes: NON_RETRYABLE,
} as const;

/** Short database steps: one transaction each, measured a third cheaper as local activities than as regular ones. */
export const ProfileDatabaseStep: LocalActivityOptions = {
  startToCloseTimeout: '30s',
  retry: WITHOUT_LIMIT,
  // Longer pauses become timers, so that a database that is down holds no workflow task.
  localRetryThreshold: '5s',
};

/** Steps over every row of a rollout of thousands of nodes: longer than a workflow task should take. */
export const ProfileEveryRow: ActivityOptions = {
  startToCloseTimeout: '5m',
  retry: WITHOUT_LIMIT,
};

/**
 * Spec `ProfileUpgradeDefault`: 10 minutes at least; the real time comes with the command's row (B5). The profile's three
 * tries count failures of the work itself; the agent does those, so an answer of the agent is never asked for again.
 */
export function ProfileUpgradeDefault(command: {
  readonly commandId: string;
  readonly scheduleToCloseMs: number;
  readonly heartbeatTimeoutMs: number;
}): ActivityOptions {
  return {
    activityId: command.commandId,
    scheduleToCloseTimeout: command.scheduleToCloseMs,
    heartbeatTimeout: command.heartbeatTimeoutMs,
    retry: WITHOUT_LIMIT,
  };
}

/** Spec `ProfileHealthValidation`: its duration is configured, one try of the work. */
export function ProfileHealthValidation(validation: {
  readonly validationId: string;
  readonly scheduleToCloseMs: number;
}): ActivityOptions {
  return {
    activityId: validation.validationId,
    scheduleToCloseTimeout: validation.scheduleToCloseMs,
    heartbeatTimeout: '30s',
    retry: WITHOUT_LIMIT,
  };
}
