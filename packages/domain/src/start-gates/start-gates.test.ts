import { describe, expect, test } from 'vitest';
import { decideNext } from '../decide-next.ts';
import { told } from '../testing/decision-line.ts';
import { aControl, aNode, aRow, aSnapshot, ended, inFlight } from '../testing/snapshot-builder.ts';

const now = 10_000;

describe('start gates', () => {
  const halted = { bestHeight: 7, heightGrewAt: 0, maxBlockIntervalMs: 1_000 };

  test('a halted chain pauses the rollout once nothing is in flight (D4a)', () => {
    expect(told(decideNext(aSnapshot({ chain: halted, nodes: [aRow('a')] }), now))).toBe('pause chain_halted');
    const busy = aSnapshot({ rollout: { batchSize: 2 }, chain: halted, nodes: [inFlight('a'), aRow('b')] });
    expect(told(decideNext(busy, now))).toBe('wait pausing chain_halted nodes_in_flight (running)');
  });

  test('an unknown height is not a halt', () => {
    const chain = { ...halted, heightGrewAt: null };
    expect(told(decideNext(aSnapshot({ chain, nodes: [aRow('a')] }), now))).toBe('run a#1 (running)');
  });

  test('a halted chain holds neither all_at_once nor a forced rollout', () => {
    const nodes = [aRow('a')];
    const all = aSnapshot({ rollout: { strategy: 'all_at_once' }, chain: halted, nodes });
    expect(told(decideNext(all, now))).toBe('run a#1 (running)');
    const forced = aSnapshot({ chain: halted, nodes, controls: [aControl('force', 1)] });
    expect(told(decideNext(forced, now))).toBe('run a#1 (running)');
  });

  test('an offline node is waited for under policy wait, and says since when (field-case 109)', () => {
    const fleet = [aNode('a', { online: false, lastHeartbeatAt: 0 })];
    const decision = decideNext(aSnapshot({ rollout: { offlinePolicy: 'wait' }, nodes: [aRow('a')], fleet }), now);
    expect(decision).toMatchObject({
      kind: 'wait',
      reasons: [{ code: 'agent_offline', params: { node: 'a', since: '1970-01-01T00:00:00.000Z' }, nodeIds: ['a'] }],
    });
  });

  test('under policy skip its own pre-check decides, so it holds nobody', () => {
    const fleet = [aNode('a', { online: false })];
    expect(told(decideNext(aSnapshot({ nodes: [aRow('a')], fleet }), now))).toBe('run a#1 (running)');
  });

  test('a node that another rollout changes is waited for (C2a)', () => {
    const fleet = [aNode('a', { busyWithRolloutId: 'r0' })];
    const nodes = [aRow('a'), aRow('b')];
    const decision = decideNext(aSnapshot({ rollout: { batchSize: 2 }, nodes, fleet }), now);
    expect(told(decision)).toBe('run b#1 (running)');
    expect(decision).toMatchObject({ reasons: [{ code: 'node_busy', nodeIds: ['a'] }] });
  });

  test('a quarantined node is not started, not even as a retry (B3)', () => {
    const fleet = [aNode('a', { quarantined: true })];
    const nodes = [ended('a', 'failed', { requestedAttempt: 2 })];
    const decision = decideNext(aSnapshot({ rollout: { failureThreshold: 1 }, nodes, fleet }), now);
    expect(told(decision)).toBe('wait node_quarantined (running)');
  });

  describe('a held node', () => {
    const hold = { actor: 'ann', reason: 'its disk is being moved', until: now + 1_000 };
    const fleet = [aNode('a', { name: 'val-1', hold })];
    const nodes = [aRow('a'), aRow('b')];
    const override = { rule: 'hold/val-1', actor: 'bob', reason: 'it is done', createdAt: 0, expiresAt: now + 1 };

    test('waits for its turn and says who, why and until when, while the others go', () => {
      const decision = decideNext(aSnapshot({ rollout: { batchSize: 2 }, nodes, fleet }), now);
      expect(told(decision)).toBe('run b#1 (running)');
      const params = { node: 'a', actor: 'ann', until: '1970-01-01T00:00:11.000Z', why: 'its disk is being moved' };
      expect(decision).toMatchObject({ reasons: [{ code: 'node_held', params, nodeIds: ['a'] }] });
    });

    test('is asked again when the hold expires, and starts then', () => {
      const alone = aSnapshot({ nodes: [aRow('a')], fleet });
      expect(decideNext(alone, now)).toMatchObject({ kind: 'wait', until: hold.until });
      expect(told(decideNext(alone, hold.until))).toBe('run a#1 (running)');
    });

    test('waits on the way back and as a retry too: whoever holds it is at work on it', () => {
      const retry = [ended('a', 'failed', { requestedAttempt: 2 })];
      const decision = decideNext(aSnapshot({ rollout: { failureThreshold: 1 }, nodes: retry, fleet }), now);
      expect(told(decision)).toBe('wait node_held (running)');
    });

    test('starts where one person set that hold aside for the rollout', () => {
      expect(told(decideNext(aSnapshot({ nodes: [aRow('a')], fleet, overrides: [override] }), now))).toBe(
        'run a#1 (running)',
      );
      const other = [{ ...override, rule: 'hold/val-2' }];
      expect(told(decideNext(aSnapshot({ nodes: [aRow('a')], fleet, overrides: other }), now))).toBe(
        'wait node_held (running)',
      );
    });
  });

  test('max_in_flight caps nodes in flight and offered ones together (C7)', () => {
    const nodes = [inFlight('a'), aRow('b', { offeredAt: now }), aRow('c'), aRow('d')];
    const rollout = { strategy: 'all_at_once', maxInFlight: 3 } as const;
    expect(told(decideNext(aSnapshot({ rollout, nodes }), now))).toBe('run c#1 (running)');
    const full = aSnapshot({ rollout: { ...rollout, maxInFlight: 2 }, nodes });
    expect(decideNext(full, now)).toMatchObject({
      kind: 'wait',
      reasons: [
        { code: 'nodes_in_flight' },
        { code: 'nodes_offered' },
        { code: 'max_in_flight_reached', params: { count: 2, limit: 2 } },
      ],
    });
  });

  test('an answer holds at most 500 nodes', () => {
    const nodes = Array.from({ length: 1_200 }, (_, index) => aRow(`n${index}`));
    const decision = decideNext(aSnapshot({ rollout: { strategy: 'all_at_once' }, nodes }), now);
    expect(decision).toMatchObject({ kind: 'run' });
    expect(decision.kind === 'run' && decision.nodes.length).toBe(500);
  });
});
