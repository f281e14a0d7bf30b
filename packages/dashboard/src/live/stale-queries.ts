import type { Page } from '@hoodcloud/contracts/http/common';
import type { EventView } from '@hoodcloud/contracts/http/events';
import { TOPICS } from '../api/queries.ts';

/**
 * Beginnings of the query keys that an event makes stale. Timelines are not among them: they take the event itself
 * (`timelines.ts`).
 */
export function staleQueries(event: EventView): readonly (readonly string[])[] {
  const { subject_type: subject, rollout_id: rolloutId, node_id: nodeId } = event;
  const keys: (readonly string[])[] = [];
  if (rolloutId !== null) {
    keys.push([TOPICS.rollouts], [TOPICS.rollout, rolloutId], [TOPICS.batches, rolloutId]);
    keys.push([TOPICS.rolloutNodes, rolloutId], [TOPICS.rolloutNodes, 'newest-of']);
  }
  if (nodeId !== null) keys.push([TOPICS.nodes], [TOPICS.node, nodeId]);
  if (subject === 'incident') keys.push([TOPICS.incidents]);
  // any rollout may wait otherwise now, and none of them has an event of its own when it only waits for longer
  if (subject === 'policy') {
    keys.push([TOPICS.policies], [TOPICS.overrides], [TOPICS.rollouts], [TOPICS.rollout], [TOPICS.rolloutNodes]);
  }
  if (rolloutId !== null && event.kind !== 'node_upgrade_phase_changed') keys.push([TOPICS.overrides, rolloutId]);
  if (subject === 'rollout_plan') keys.push([TOPICS.plans]);
  if (isTurn(event)) keys.push([TOPICS.approvals], [TOPICS.chains]);
  if (!event.actor.startsWith('system:')) keys.push([TOPICS.audit]);
  if (subject === 'rollout_group' || rolloutId !== null) keys.push([TOPICS.groups], [TOPICS.group]);
  return keys;
}

/** Whether a rollout or a group itself took a turn: then something may wait for a person, or wait no more. */
function isTurn({ subject_type: subject, kind }: EventView): boolean {
  if (subject === 'rollout_group') return true;
  return subject === 'rollout' && !kind.startsWith('node_') && kind !== 'rollout_progress';
}

/**
 * Whether it is a list of more than one page. Such a list isn't read again because one of its rows changed: the rows in
 * sight are read alone (`fresh-rows.ts`).
 */
export function isLongList(data: unknown): boolean {
  const pages = (data as { pages?: readonly Page<unknown>[] } | undefined)?.pages;
  return pages !== undefined && (pages.length > 1 || (pages[0]?.next_cursor ?? null) !== null);
}
