import { describe, expect, test } from 'vitest';
import { IllegalTransitionError } from './errors.ts';
import { NODE_STATE_TRANSITIONS } from './node-state.ts';
import { IN_FLIGHT_NODE_STATUSES, isEndedNode, isInFlight, NODE_UPGRADE_TRANSITIONS } from './node-upgrade-status.ts';
import { ROLLOUT_GROUP_TRANSITIONS } from './rollout-group-status.ts';
import { ACTIVE_ROLLOUT_STATUSES, isEndedRollout, ROLLOUT_TRANSITIONS } from './rollout-status.ts';
import { assertTransition, canTransition, finalStates, type TransitionTable } from './transition.ts';
import { PHASE_OF_ACTION, UPGRADE_ACTION_NAMES, UPGRADE_PHASE_TRANSITIONS } from './upgrade-phase.ts';

/** Every edge that may exist, written out by hand from the spec's diagrams and C10a; the tables must have just these. */
const EDGES: Record<string, { table: TransitionTable<string>; edges: string[]; final: string[] }> = {
  rollout: {
    table: ROLLOUT_TRANSITIONS,
    edges: [
      'pending running',
      'pending canceled',
      'running paused',
      'running completed',
      'running failed',
      'running canceled',
      'running rolled_back',
      'paused running',
      'paused canceled',
      'paused failed',
      'completed running',
      'failed running',
      'canceled running',
    ],
    final: ['rolled_back'],
  },
  rollout_group: {
    table: ROLLOUT_GROUP_TRANSITIONS,
    edges: [
      'pending running',
      'pending canceled',
      'running paused',
      'running completed',
      'running failed',
      'running canceled',
      'running rolled_back',
      'running partial',
      'paused running',
      'paused canceled',
      'paused failed',
      'completed running',
      'failed running',
      'canceled running',
      'partial running',
    ],
    final: ['rolled_back'],
  },
  node_upgrade: {
    table: NODE_UPGRADE_TRANSITIONS,
    edges: [
      'pending in_progress',
      'pending skipped',
      'in_progress validating',
      'in_progress failed',
      'in_progress rolled_back',
      'validating succeeded',
      'validating failed',
      'validating rolled_back',
      'succeeded in_progress',
      'failed in_progress',
      'rolled_back in_progress',
    ],
    final: ['skipped'],
  },
  upgrade_phase: {
    table: UPGRADE_PHASE_TRANSITIONS,
    edges: [
      'PREPARING STOPPED',
      'PREPARING ROLLBACKING',
      'STOPPED MUTATING',
      'STOPPED ROLLBACKING',
      'MUTATING STARTING',
      'MUTATING ROLLBACKING',
      'STARTING VERIFYING',
      'STARTING ROLLBACKING',
      'VERIFYING COMPLETED',
      'VERIFYING ROLLBACKING',
      'ROLLBACKING ROLLED_BACK',
      'ROLLBACKING FAILED_ROLLBACK',
    ],
    final: ['COMPLETED', 'ROLLED_BACK', 'FAILED_ROLLBACK'],
  },
};

describe.each(Object.entries(EDGES))('%s', (machine, { table, edges, final }) => {
  const states = Object.keys(table);
  const pairs = states.flatMap((from) => states.map((to) => [from, to] as const));

  test.each(pairs)('%s -> %s is legal only when the specification has the edge', (from, to) => {
    const legal = edges.includes(`${from} ${to}`);
    expect(canTransition(table, from, to)).toBe(legal);
    const attempt = () => assertTransition(machine, table, from, to);
    if (legal) expect(attempt).not.toThrow();
    else expect(attempt).toThrow(IllegalTransitionError);
  });

  test('its final states are those of the specification', () => {
    expect(finalStates(table)).toEqual(final);
  });

  test('no edge leads to a state that the table does not have', () => {
    for (const next of Object.values(table).flat()) expect(states).toContain(next);
  });
});

describe('node states (D0)', () => {
  test('terminated and failed are final', () => {
    expect(finalStates(NODE_STATE_TRANSITIONS)).toEqual(['terminated', 'failed']);
  });

  test('every live state may become any other live state but provisioning', () => {
    const live = ['syncing', 'healthy', 'degraded', 'down', 'maintenance'] as const;
    for (const from of live) {
      for (const to of live) expect(canTransition(NODE_STATE_TRANSITIONS, from, to)).toBe(from !== to);
      expect(canTransition(NODE_STATE_TRANSITIONS, from, 'provisioning')).toBe(false);
    }
  });

  test('what terminates never comes back', () => {
    expect(NODE_STATE_TRANSITIONS.terminating).toEqual(['terminated', 'failed']);
  });
});

test('a refusal names the machine, both states and what would be legal', () => {
  expect(() => assertTransition('rollout', ROLLOUT_TRANSITIONS, 'pending', 'completed')).toThrow(
    "rollout can't go from pending to completed: pending may become running, canceled",
  );
  expect(() => assertTransition('rollout', ROLLOUT_TRANSITIONS, 'rolled_back', 'running')).toThrow(
    'rolled_back is final',
  );
});

test('a rollout is over exactly when it no longer takes its chain', () => {
  const over = Object.keys(ROLLOUT_TRANSITIONS).filter((status) => isEndedRollout(status as 'pending'));
  expect(over).toEqual(['completed', 'failed', 'canceled', 'rolled_back']);
  expect(ACTIVE_ROLLOUT_STATUSES).toEqual(['pending', 'running', 'paused']);
});

test('a node status is waiting, in flight or ended, and only one of them', () => {
  for (const status of Object.keys(NODE_UPGRADE_TRANSITIONS) as (keyof typeof NODE_UPGRADE_TRANSITIONS)[]) {
    const kinds = [status === 'pending', isInFlight(status), isEndedNode(status)].filter(Boolean);
    expect(kinds, status).toHaveLength(1);
  }
  expect(IN_FLIGHT_NODE_STATUSES).toEqual(['in_progress', 'validating']);
});

test('the actions show their phases in the order in which phases follow each other', () => {
  const phases = [...new Set(UPGRADE_ACTION_NAMES.map((name) => PHASE_OF_ACTION[name]))];
  expect(phases).toEqual(['PREPARING', 'STOPPED', 'MUTATING', 'STARTING']);
  phases.slice(1).forEach((phase, index) => {
    const before = phases[index];
    if (before !== undefined) expect(canTransition(UPGRADE_PHASE_TRANSITIONS, before, phase)).toBe(true);
  });
});
