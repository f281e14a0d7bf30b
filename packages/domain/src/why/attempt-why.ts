import type { AgentOperation, CommandStatus } from '../agent-operation.ts';
import { renderDuration } from '../duration-text.ts';
import { isoTime } from '../iso-time.ts';
import { type Reason, reason } from '../reasons.ts';
import type { FleetNodeFacts, RolloutNodeFacts } from '../rollout-snapshot.ts';

/** The newest command of a node's attempt. Times are epoch milliseconds. */
export interface CommandFacts {
  readonly operation: AgentOperation;
  readonly status: CommandStatus;
  readonly createdAt: number;
  readonly deliveredAt: number | null;
  readonly acknowledgedAt: number | null;
  /** When it is given up. */
  readonly deadlineAt: number;
  /** The step that the agent is at; null before the first. */
  readonly step: {
    readonly action: string;
    readonly since: number;
    readonly progressPct: number | null;
    readonly note: string | null;
  } | null;
}

/** What the fleet knows of the node's agent. */
export type AgentFacts = Pick<FleetNodeFacts, 'online' | 'lastHeartbeatAt'>;

/** What is known of a node's attempt beside its row. */
export interface AttemptFacts {
  readonly nodeId: string;
  readonly command: CommandFacts | null;
  /** What the open proof of health misses, or how the last one ended. */
  readonly health: readonly Reason[];
  /** The reason of the row's status, as it was told. */
  readonly statusReason: Reason | null;
}

/** How long a step usually takes: the median of earlier runs in milliseconds; null when there is no earlier run. */
export type UsualDuration = (action: string) => number | null;

function stepReason({ step }: CommandFacts, usual: UsualDuration): Reason[] {
  if (step === null) return [];
  const ms = usual(step.action);
  const parts = [
    ...(step.progressPct === null ? [] : [`${step.progressPct} %`]),
    ...(step.note === null || step.note === '' ? [] : [step.note]),
  ];
  return [
    reason('agent_step', {
      action: step.action,
      since: isoTime(step.since),
      done: parts.length === 0 ? '' : ` (${parts.join(', ')})`,
      usual: ms === null ? 'no earlier run tells how long that takes' : `it usually takes ${renderDuration(ms)}`,
    }),
  ];
}

/** What an open command waits for; empty when it has ended. */
function commandReasons(attempt: AttemptFacts, usual: UsualDuration): Reason[] {
  const { command, nodeId: node } = attempt;
  if (command === null) return [];
  const { operation, status } = command;
  const sent = isoTime(command.deliveredAt ?? command.createdAt);
  if (status === 'pending')
    return [reason('command_undelivered', { operation, node, since: isoTime(command.createdAt) })];
  if (status === 'delivered') return [reason('command_unacknowledged', { operation, node, since: sent })];
  if (status !== 'acknowledged') return [];
  const step = stepReason(command, usual);
  if (step.length > 0) return step;
  const since = isoTime(command.acknowledgedAt ?? command.createdAt);
  return [reason('command_begins', { operation, since })];
}

/** A silent agent is no failed command: it has until the deadline (B5a). */
function silence({ command, nodeId: node }: AttemptFacts, fleet: AgentFacts | undefined): Reason[] {
  if (fleet === undefined || fleet.online || command === null) return [];
  const since = fleet.lastHeartbeatAt === null ? 'ever' : isoTime(fleet.lastHeartbeatAt);
  return [reason('agent_silent', { node, since, until: isoTime(command.deadlineAt) })];
}

/** Why a node whose attempt is under way has not ended; never empty, the most important first. */
export function whyAttemptGoesOn(
  row: RolloutNodeFacts,
  attempt: AttemptFacts,
  fleet: AgentFacts | undefined,
  usual: UsualDuration,
): readonly Reason[] {
  const ofCommand = commandReasons(attempt, usual);
  if (ofCommand.length > 0) return [...silence(attempt, fleet), ...ofCommand];
  if (row.status === 'validating') {
    // What is missing says more than how long it is still looked at.
    const window = attempt.health.filter(({ code }) => code === 'health_window');
    const missing = attempt.health.filter(({ code }) => code !== 'health_window');
    const proof = [...missing, ...window];
    return proof.length > 0 ? proof : [reason('proof_begins')];
  }
  if (attempt.command !== null) return [reason('result_arrived', { operation: attempt.command.operation })];
  return [reason('command_being_made', { since: row.startedAt === null ? 'now' : isoTime(row.startedAt) })];
}
