import type { EventView } from '@hoodcloud/contracts/http/events';

/** A rollout that was paused, as an event for channels. */
export function pausedEvent(event: Partial<EventView>): EventView {
  return {
    seq: 1,
    kind: 'rollout_paused',
    subject_type: 'rollout',
    subject_id: '22222222-2222-4222-8222-222222222222',
    rollout_id: '22222222-2222-4222-8222-222222222222',
    chain_profile_id: 'testchain',
    node_id: null,
    node_name: null,
    reason: null,
    severity: 'warning',
    actor: 'system:rollout',
    data: {},
    occurred_at: '2026-01-01T08:14:03.250Z',
    ...event,
  };
}
