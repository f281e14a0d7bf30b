import type { EventView } from '@hoodcloud/contracts/http/events';
import { expect, it } from 'vitest';
import { isLongList, staleQueries } from './stale-queries.ts';

const event = (parts: Partial<EventView>): EventView =>
  ({
    kind: 'node_state_changed',
    actor: 'system:test',
    subject_type: 'rollout',
    rollout_id: null,
    node_id: null,
    ...parts,
  }) as EventView;

it('an event of a node in a rollout makes both of them stale, and the lists that show them', () => {
  const keys = staleQueries(event({ rollout_id: 'r', node_id: 'n' })).map((key) => key.join(' '));
  expect(keys).toEqual(expect.arrayContaining(['rollouts', 'rollout r', 'batches r', 'rollout-nodes r', 'nodes']));
});

it('an incident that belongs to no node makes the incidents stale, and nothing else', () => {
  expect(staleQueries(event({ subject_type: 'incident' }))).toEqual([['incidents']]);
});

it('a list is long when it has more than its first page, read or not', () => {
  const page = (next_cursor: string | null) => ({ items: [], next_cursor });
  expect(isLongList({ pages: [page(null)] })).toBe(false);
  expect(isLongList({ pages: [page('more')] })).toBe(true);
  expect(isLongList({ pages: [page('more'), page(null)] })).toBe(true);
  expect(isLongList({ items: [] })).toBe(false);
  expect(isLongList(undefined)).toBe(false);
});

it('only a turn of the rollout itself changes what waits for a person, not each of its nodes', () => {
  const stale = (kind: EventView['kind']) => staleQueries(event({ kind, rollout_id: 'r' })).flat();
  expect(stale('rollout_paused')).toContain('approvals');
  expect(stale('node_upgrade_phase_changed')).not.toContain('approvals');
  expect(stale('rollout_progress')).not.toContain('approvals');
});

it('what a person did changes the audit', () => {
  expect(staleQueries(event({ actor: 'key:anna' })).flat()).toContain('audit');
  expect(staleQueries(event({})).flat()).not.toContain('audit');
});

it('a changed policy makes every rollout stale, and a phase of a node no rule that holds the others', () => {
  const keys = staleQueries(event({ subject_type: 'policy', kind: 'policy_deleted' })).map((key) => key.join(' '));
  expect(keys).toEqual(expect.arrayContaining(['policies', 'overrides', 'rollout', 'rollout-nodes']));
  const ofRollout = (kind: EventView['kind']) => staleQueries(event({ kind, rollout_id: 'r' })).flat();
  expect(ofRollout('rule_overridden')).toContain('overrides');
  expect(ofRollout('node_upgrade_phase_changed')).not.toContain('overrides');
});
