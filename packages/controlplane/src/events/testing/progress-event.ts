import type { NewEvent } from '../append-event.ts';

/** A rollout's counters as an event, so many of its nodes done. */
export function progressEvent(
  rolloutId: string,
  nodes: { succeeded: number; total: number },
): NewEvent<'rollout_progress'> {
  return {
    kind: 'rollout_progress',
    subjectType: 'rollout',
    subjectId: rolloutId,
    rolloutId,
    actor: 'system:test',
    data: {
      total_nodes: nodes.total,
      succeeded_nodes: nodes.succeeded,
      failed_nodes: 0,
      pending_nodes: nodes.total - nodes.succeeded,
      skipped_nodes: 0,
    },
  };
}
