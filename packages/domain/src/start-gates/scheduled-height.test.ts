import { describe, expect, test } from 'vitest';
import { decideNext } from '../decide-next.ts';
import { told } from '../testing/decision-line.ts';
import { aControl, aRow, aSnapshot, ended } from '../testing/snapshot-builder.ts';

const now = 100_000;
const rollout = { startAtHeight: 500 } as const;
const nodes = [aRow('a')];

describe('a rollout that starts at a height', () => {
  test('waits, says how many blocks are left and when they will have been made', () => {
    const chain = { bestHeight: 480, heightGrewAt: now, blockIntervalMs: 6_000 };
    const decision = decideNext(aSnapshot({ rollout, chain, nodes }), now);
    expect(decision).toMatchObject({
      kind: 'wait',
      until: now + 60_000,
      reasons: [
        {
          code: 'waiting_for_height',
          params: { height: 500, best: 480, left: 20, eta: 'about 1970-01-01T00:03:40.000Z' },
        },
      ],
    });
  });

  test('starts when the height is reached, and when it was passed', () => {
    for (const bestHeight of [500, 512]) {
      const snapshot = aSnapshot({ rollout, chain: { bestHeight, heightGrewAt: now }, nodes });
      expect(told(decideNext(snapshot, now))).toBe('run a#1 (running)');
    }
  });

  test('an unknown height waits and says so, and is asked again soon', () => {
    const decision = decideNext(aSnapshot({ rollout, nodes }), now);
    expect(decision).toMatchObject({
      kind: 'wait',
      until: now + 15_000,
      reasons: [{ code: 'chain_height_unknown', params: { height: 500 } }],
    });
  });

  test('sleeps at most ten minutes, and at least a second when the rate was too hopeful', () => {
    const far = { bestHeight: 1, heightGrewAt: now, blockIntervalMs: 6_000_000 };
    expect(decideNext(aSnapshot({ rollout, chain: far, nodes }), now)).toMatchObject({ until: now + 600_000 });
    const late = { bestHeight: 499, heightGrewAt: 0, blockIntervalMs: 1_000 };
    expect(decideNext(aSnapshot({ rollout, chain: late, nodes }), now)).toMatchObject({ until: now + 1_000 });
  });

  test('a person may set the height aside for the rollout', () => {
    const word = { rule: 'start_at_height', actor: 'ann', reason: 'now', createdAt: 0, expiresAt: now + 1 };
    const chain = { bestHeight: 1, heightGrewAt: now };
    expect(told(decideNext(aSnapshot({ rollout, chain, nodes, overrides: [word] }), now))).toBe('run a#1 (running)');
  });

  test('neither a retry nor the way back waits for it', () => {
    const chain = { bestHeight: 1, heightGrewAt: now };
    const retry = [ended('a', 'failed', { requestedAttempt: 2 })];
    expect(
      told(decideNext(aSnapshot({ rollout: { ...rollout, failureThreshold: 1 }, chain, nodes: retry }), now)),
    ).toBe('run a#2 (running)');
    const back = aSnapshot({
      rollout: { ...rollout, direction: 'rollback' },
      chain,
      controls: [aControl('rollback', 1)],
      nodes: [ended('a', 'succeeded', { requestedAttempt: 2, attemptDirection: 'rollback' })],
    });
    expect(told(decideNext(back, now))).toBe('run a#2 (running)');
  });
});
