/** The three operations an agent can be commanded to do for an attempt (B2). */
export const AGENT_OPERATIONS = ['UPGRADE', 'COMPENSATE', 'CONFIRM'] as const;
export type AgentOperation = (typeof AGENT_OPERATIONS)[number];

/** What an agent is told ahead of an attempt: to do all that needs no stop, or to forget that it did. */
export const STAGING_OPERATIONS = ['STAGE', 'UNSTAGE'] as const;
export type StagingOperation = (typeof STAGING_OPERATIONS)[number];

/** Whether a command is part of an attempt, which a workflow waits for; staging is rows alone. */
export function isOfAttempt(operation: AgentOperation | StagingOperation): operation is AgentOperation {
  return AGENT_OPERATIONS.some((known) => known === operation);
}

/**
 * How an operation ended on the host.
 * `completed`: done (or already done); `rolled_back`: it failed and everything was undone; `failed_rollback`: the undo
 * failed too, a person is needed; `refused`: nothing was touched (bad input, busy, superseded).
 */
export const OPERATION_OUTCOMES = ['completed', 'rolled_back', 'failed_rollback', 'refused'] as const;
export type OperationOutcome = (typeof OPERATION_OUTCOMES)[number];

/** Life of a command row: written, delivered to the stream, acknowledged, ended. */
export const COMMAND_STATUSES = [
  'pending',
  'delivered',
  'acknowledged',
  'completed',
  'failed',
  'expired',
  'superseded',
] as const;
export type CommandStatus = (typeof COMMAND_STATUSES)[number];

/** One try on one node; names the backup folder and keys the completed store (A5). Safe as a folder name. */
export function attemptId(rolloutId: string, nodeId: string, attempt: number): string {
  return `${rolloutId}.${nodeId}.${attempt}`;
}
