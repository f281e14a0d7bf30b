import { describe, expect, test } from 'vitest';
import { displayState, judgeNodeState, type NodeHealthFacts } from './node-health.ts';
import { APPLICATION_HEALTHS, NODE_STATES, SYNC_STATUSES } from './node-state.ts';

const facts: NodeHealthFacts = {
  state: 'healthy',
  now: 100_000,
  lastHeartbeatAt: 95_000,
  offlineAfterMs: 30_000,
  running: true,
  applicationHealth: 'ok',
  syncStatus: 'synced',
  judgesApplication: true,
  judgesSync: true,
};
const judged = (over: Partial<NodeHealthFacts>) => judgeNodeState({ ...facts, ...over });

test.each([
  ['healthy', {}],
  ['down', { lastHeartbeatAt: 69_999 }],
  ['healthy', { lastHeartbeatAt: 70_000 }],
  ['down', { lastHeartbeatAt: null }],
  ['down', { running: false }],
  ['degraded', { applicationHealth: 'critical' }],
  ['degraded', { applicationHealth: 'degraded' }],
  ['degraded', { syncStatus: 'stalled' }],
  ['syncing', { syncStatus: 'syncing' }],
  ['syncing', { syncStatus: 'unknown' }],
  ['syncing', { applicationHealth: 'unknown' }],
  ['syncing', { running: null }],
  ['healthy', { applicationHealth: 'unknown', syncStatus: 'unknown', judgesApplication: false, judgesSync: false }],
] as [string, Partial<NodeHealthFacts>][])('a node is %s with %j', (state, over) => {
  expect(judged(over)).toBe(state);
});

test.each(['maintenance', 'terminating', 'terminated', 'failed'] as const)(
  'a node in %s is left alone, silent or not',
  (state) => {
    expect(judged({ state })).toBe(state);
    expect(judged({ state, lastHeartbeatAt: null })).toBe(state);
    expect(judged({ state, running: false })).toBe(state);
  },
);

test('a node whose agent never came stays provisioning, and comes alive with its first heartbeat', () => {
  expect(judged({ state: 'provisioning', lastHeartbeatAt: null })).toBe('provisioning');
  expect(judged({ state: 'provisioning' })).toBe('healthy');
});

describe('what is shown (D0)', () => {
  test('state wins over application_health, which wins over sync_status', () => {
    expect(displayState('down', 'critical', 'stalled')).toEqual({ text: 'down', from: 'state' });
    expect(displayState('healthy', 'critical', 'stalled')).toEqual({ text: 'critical', from: 'application_health' });
    expect(displayState('healthy', 'ok', 'stalled')).toEqual({ text: 'stalled', from: 'sync_status' });
    expect(displayState('healthy', 'ok', 'synced')).toEqual({ text: 'healthy', from: 'state' });
  });

  test('any state but healthy is shown as it is', () => {
    for (const state of NODE_STATES.filter((name) => name !== 'healthy')) {
      for (const application of APPLICATION_HEALTHS) {
        for (const sync of SYNC_STATUSES) expect(displayState(state, application, sync).text).toBe(state);
      }
    }
  });
});
