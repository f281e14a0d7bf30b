import type { EventView } from '@hoodcloud/contracts/http/events';
import { expect, it } from 'vitest';
import { reasonView } from '../testing/sample-views.ts';
import { renderEvent } from './event-text.ts';

const event: EventView = {
  seq: 1,
  kind: 'node_upgrade_completed',
  subject_type: 'node',
  subject_id: '22222222-2222-4222-8222-222222222222',
  rollout_id: null,
  chain_profile_id: 'testchain',
  node_id: null,
  node_name: 'validator-1',
  reason: reasonView('health_passed'),
  severity: 'info',
  actor: 'system:worker',
  data: { from: 'validating', to: 'succeeded', phase: 'COMPLETED' },
  occurred_at: '2026-01-01T08:14:03.250Z',
};

it('tells when, whom, what and why in one line', () => {
  expect(renderEvent(event)).toBe('08:14:03   validator-1  succeeded (COMPLETED) · Proved healthy.');
});

it('marks what is worse than information', () => {
  const paused = {
    ...event,
    kind: 'rollout_paused',
    subject_type: 'rollout',
    node_name: null,
    severity: 'warning',
  } as const;
  expect(renderEvent({ ...paused, reason: null, data: {} })).toBe('08:14:03 ! rollout      rollout paused');
});
