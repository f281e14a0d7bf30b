import { createHash } from 'node:crypto';
import type { AttemptHistory, CommandHistory } from './attempt-history.ts';

/** The program whose work a span is; `service.name` of the trace. */
export type TracedService = 'hoodcloud-api' | 'hoodcloud-worker' | 'hoodcloud-gateway' | 'hoodcloud-agent';

export interface AttemptSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** null: the trace begins here. */
  readonly parentId: string | null;
  readonly service: TracedService;
  readonly name: string;
  readonly start: Date;
  readonly end: Date;
  /** What went wrong, in a sentence; null: nothing. */
  readonly error: string | null;
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** 16 bytes in hex, the same for an attempt wherever and whenever its trace is made. */
export function traceIdOf(attemptId: string): string {
  return createHash('sha256').update(attemptId).digest('hex').slice(0, 32);
}

const spanIdOf = (attemptId: string, part: string) =>
  createHash('sha256').update(`${attemptId} ${part}`).digest('hex').slice(0, 16);

/**
 * The trace of one node upgrade: the order given to the API, the workflow, each command, the agent's work on it and each of
 * its actions, one below the other (docs/decisions/0022).
 */
export function attemptSpans(attempt: AttemptHistory): AttemptSpan[] {
  const make = spanMaker(attempt);
  const order = attempt.order && {
    ...make('order', null, 'hoodcloud-api', `order ${attempt.order.kind}`),
    start: attempt.order.at,
    // what was ordered waits for its batch; from then on the workflow is at work
    end: attempt.startedAt,
    attributes: { 'hoodcloud.actor': attempt.order.actor },
  };
  const workflow = {
    ...make('workflow', order, 'hoodcloud-worker', 'UpgradeNodeWorkflow'),
    start: attempt.startedAt,
    end: attempt.endedAt,
    error: attempt.status === 'succeeded' ? null : attempt.reason || attempt.status,
    attributes: { 'hoodcloud.status': attempt.status },
  };
  const { validation } = attempt;
  const proof = validation && {
    ...make('validation', workflow, 'hoodcloud-worker', 'health validation'),
    start: validation.createdAt,
    end: validation.endedAt,
    error: validation.status === 'failed' ? 'The node was not healthy.' : null,
  };
  return [
    ...(order ? [order] : []),
    workflow,
    ...attempt.commands.flatMap((command) => commandSpans(make, workflow, command)),
    ...(proof ? [proof] : []),
  ].map((span) => ({ ...span, attributes: { ...of(attempt), ...span.attributes } }));
}

type Make = ReturnType<typeof spanMaker>;

function spanMaker({ attemptId, startedAt, endedAt }: AttemptHistory) {
  return (part: string, parent: AttemptSpan | null, service: TracedService, name: string): AttemptSpan => ({
    traceId: traceIdOf(attemptId),
    spanId: spanIdOf(attemptId, part),
    parentId: parent?.spanId ?? null,
    service,
    name,
    start: startedAt,
    end: endedAt,
    error: null,
    attributes: {},
  });
}

function commandSpans(make: Make, workflow: AttemptSpan, command: CommandHistory): AttemptSpan[] {
  const { operation, outcome, takenAt, endedAt } = command;
  const failed = outcome === 'completed' ? null : command.error || `The command ended as ${outcome ?? 'expired'}.`;
  const sent: AttemptSpan = {
    ...make(`command ${operation}`, workflow, 'hoodcloud-gateway', `command ${operation}`),
    start: command.createdAt,
    end: endedAt,
    error: failed,
    attributes: { 'hoodcloud.command_id': command.id, 'hoodcloud.outcome': outcome ?? 'expired' },
  };
  if (takenAt === null) return [sent];
  const agent: AttemptSpan = {
    ...make(`agent ${operation}`, sent, 'hoodcloud-agent', `agent ${operation}`),
    start: takenAt,
    end: endedAt,
    error: failed,
  };
  return [sent, agent, ...actionSpans(make, agent, command)];
}

/** Actions run one after the other, so their durations laid end to end say when each was, free of the host's clock. */
function actionSpans(make: Make, agent: AttemptSpan, { operation, actions }: CommandHistory): AttemptSpan[] {
  let at = agent.start.getTime();
  return actions.map((action, index) => {
    const start = at;
    at = Math.min(at + action.durationMs, agent.end.getTime());
    return {
      ...make(`action ${operation} ${index}`, agent, 'hoodcloud-agent', action.name),
      start: new Date(start),
      end: new Date(at),
      error: /failed$/.test(action.result) ? action.error || action.result : null,
      attributes: { 'hoodcloud.action.result': action.result },
    };
  });
}

function of({ attemptId, rolloutId, nodeId, nodeName, chainProfileId, attempt, direction }: AttemptHistory) {
  return {
    'hoodcloud.attempt_id': attemptId,
    'hoodcloud.rollout_id': rolloutId,
    'hoodcloud.node_id': nodeId,
    'hoodcloud.node': nodeName,
    'hoodcloud.chain': chainProfileId,
    'hoodcloud.attempt': attempt,
    'hoodcloud.direction': direction,
  };
}
