import { describe, expect, test } from 'vitest';
import { decideNext } from './decide-next.ts';
import { told } from './testing/decision-line.ts';
import { aControl, aNode, aRow, aSnapshot, ended, inFlight } from './testing/snapshot-builder.ts';

const canary = { strategy: 'canary', healthWaitMs: 60_000, failureThreshold: 1 } as const;
const breaking = { ...canary, migrationType: 'breaking' } as const;
const rest = aRow('z', { batchIndex: 1 });
/** The canaries of the tests end at 1,000, so they are watched until 121,000. */
const observed = 121_000;

describe('canary', () => {
  test('the canary batch goes first and alone', () => {
    expect(told(decideNext(aSnapshot({ rollout: canary, nodes: [aRow('a'), rest] }), 10_000))).toBe(
      'run a#1 (running)',
    );
  });

  test('canaries are watched for twice health_wait_duration after the last of them ended', () => {
    const nodes = [ended('a', 'succeeded', { endedAt: 400 }), ended('b', 'succeeded'), rest];
    const decision = decideNext(aSnapshot({ rollout: canary, nodes }), 10_000);
    expect(told(decision)).toBe('wait canary_observation (running)');
    expect(decision).toMatchObject({ until: observed });
    expect(told(decideNext(aSnapshot({ rollout: canary, nodes }), observed))).toBe('run z#1 (running)');
  });

  test('force shortens no observation', () => {
    const snapshot = aSnapshot({
      rollout: { ...canary, forceContinue: true },
      nodes: [ended('a', 'succeeded'), rest],
      controls: [aControl('force', 2_000)],
    });
    expect(told(decideNext(snapshot, observed - 1))).toBe('wait canary_observation (running)');
  });

  test.each(['failed', 'rolled_back'] as const)('a canary that is %s pauses the rollout at once', (status) => {
    const nodes = [ended('a', 'succeeded'), ended('b', status), rest];
    const decision = decideNext(aSnapshot({ rollout: canary, nodes }), 10_000);
    expect(decision).toMatchObject({ kind: 'pause', reason: { code: 'canary_failed', nodeIds: ['b'] } });
  });

  test('a failed canary waits for the other canaries to end', () => {
    const nodes = [inFlight('a'), ended('b', 'failed'), rest];
    expect(told(decideNext(aSnapshot({ rollout: canary, nodes }), 10_000))).toBe('wait nodes_in_flight (running)');
  });

  test('resume acknowledges a failed canary; the others are watched to the end', () => {
    const nodes = [ended('a', 'succeeded'), ended('b', 'failed'), rest];
    const rollout = { ...canary, status: 'paused', statusReason: 'canary_failed', statusChangedAt: 1_500 } as const;
    expect(told(decideNext(aSnapshot({ rollout, nodes }), 10_000))).toBe('pause canary_failed');
    const controls = [aControl('resume', 2_000, { failuresAcknowledged: 1 })];
    expect(told(decideNext(aSnapshot({ rollout, nodes, controls }), 10_000))).toBe('wait canary_observation (running)');
    expect(told(decideNext(aSnapshot({ rollout: canary, nodes, controls }), observed))).toBe('run z#1 (running)');
  });

  test('force does not acknowledge a failed canary', () => {
    const nodes = [ended('a', 'failed'), rest];
    const rollout = { ...canary, status: 'paused', statusReason: 'canary_failed', statusChangedAt: 1_500 } as const;
    const snapshot = aSnapshot({ rollout, nodes, controls: [aControl('force', 2_000)] });
    expect(told(decideNext(snapshot, 10_000))).toBe('pause canary_failed');
  });

  test('canaries that were all left out prove nothing (field-case 95)', () => {
    const nodes = [aRow('a', { status: 'skipped' }), rest];
    expect(told(decideNext(aSnapshot({ rollout: canary, nodes }), 10_000))).toBe('pause canary_not_proven');
    const snapshot = aSnapshot({ rollout: canary, nodes, controls: [aControl('resume', 20_000)] });
    expect(told(decideNext(snapshot, 30_000))).toBe('run z#1 (running)');
  });

  test.each([
    ['degraded', aNode('a', { state: 'degraded' })],
    ['down', aNode('a', { state: 'down' })],
    ['failed', aNode('a', { state: 'failed' })],
    ['maintenance', aNode('a', { state: 'maintenance' })],
    ['offline', aNode('a', { online: false })],
  ])('a canary that is %s when its observation ends pauses the rollout (field-case 95)', (state, node) => {
    const nodes = [ended('a', 'succeeded'), rest];
    const decision = decideNext(aSnapshot({ rollout: canary, nodes, fleet: [node] }), observed);
    expect(decision).toMatchObject({
      kind: 'pause',
      reason: { code: 'canary_unhealthy', params: { node: 'a', state } },
    });
  });

  test('a canary that the fleet does not know proves nothing', () => {
    const snapshot = { ...aSnapshot({ rollout: canary, nodes: [ended('a', 'succeeded'), rest] }), fleet: new Map() };
    expect(told(decideNext(snapshot, observed))).toBe('pause canary_unhealthy');
  });

  test('an unhealthy canary is acknowledged by a resume after the observation, not by an earlier one', () => {
    const nodes = [ended('a', 'succeeded'), rest];
    const fleet = [aNode('a', { state: 'degraded' })];
    const at = (resumed: number) =>
      aSnapshot({ rollout: canary, nodes, fleet, controls: [aControl('resume', resumed)] });
    expect(told(decideNext(at(observed - 1), observed + 10))).toBe('pause canary_unhealthy');
    expect(told(decideNext(at(observed + 1), observed + 10))).toBe('run z#1 (running)');
  });

  test('once a later batch has begun the canaries are not judged again', () => {
    const nodes = [
      ended('a', 'succeeded'),
      ended('z', 'succeeded', { batchIndex: 1, startedAt: observed, endedAt: observed + 1 }),
      aRow('zz', { batchIndex: 2 }),
    ];
    const snapshot = aSnapshot({ rollout: canary, nodes, fleet: [aNode('a', { state: 'down' })] });
    expect(told(decideNext(snapshot, observed + 5))).toBe('run zz#1 (running)');
  });

  test('a canary whose retry cannot start yet holds the rest, with the reason of the gate', () => {
    const nodes = [ended('a', 'failed', { requestedAttempt: 2 }), rest];
    const fleet = [aNode('a', { busyWithRolloutId: 'r0' })];
    expect(told(decideNext(aSnapshot({ rollout: canary, nodes, fleet }), observed))).toBe('wait node_busy (running)');
  });
});

describe('breaking migration', () => {
  const nodes = [ended('a', 'succeeded'), rest];

  test('never a second batch without an approval, however long it takes (field-case 99)', () => {
    const decision = decideNext(aSnapshot({ rollout: breaking, nodes }), observed * 1_000);
    expect(told(decision)).toBe('wait waiting_for_approval (running)');
    expect(decision).toMatchObject({ until: null });
  });

  test('the approval lets the rest go, after the observation', () => {
    const snapshot = aSnapshot({ rollout: breaking, nodes, controls: [aControl('approve_canary', 1_000)] });
    expect(told(decideNext(snapshot, observed - 1))).toBe('wait canary_observation (running)');
    expect(told(decideNext(snapshot, observed))).toBe('run z#1 (running)');
  });

  test('an approval from before the canaries ended is void', () => {
    const snapshot = aSnapshot({ rollout: breaking, nodes, controls: [aControl('approve_canary', 999)] });
    expect(told(decideNext(snapshot, observed))).toBe('wait waiting_for_approval (running)');
  });

  test('an approval is void when a canary is retried (C6)', () => {
    const retried = [ended('a', 'succeeded', { attemptCount: 2, requestedAttempt: 2, endedAt: 5_000 }), rest];
    const snapshot = aSnapshot({ rollout: breaking, nodes: retried, controls: [aControl('approve_canary', 2_000)] });
    expect(told(decideNext(snapshot, observed * 2))).toBe('wait waiting_for_approval (running)');
  });

  test.each(['force', 'resume'] as const)('%s is no approval', (kind) => {
    const snapshot = aSnapshot({ rollout: breaking, nodes, controls: [aControl(kind, 2_000)] });
    expect(told(decideNext(snapshot, observed))).toBe('wait waiting_for_approval (running)');
  });

  test('an approval lifts no pause', () => {
    const rollout = {
      ...breaking,
      status: 'paused',
      statusReason: 'paused_by_operator',
      statusChangedAt: 1_500,
    } as const;
    const controls = [aControl('pause', 1_400), aControl('approve_canary', 2_000)];
    expect(told(decideNext(aSnapshot({ rollout, nodes, controls }), observed))).toBe('pause paused_by_operator');
  });
});
