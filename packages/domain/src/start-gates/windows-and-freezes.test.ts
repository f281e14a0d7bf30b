import { describe, expect, test } from 'vitest';
import { decideNext } from '../decide-next.ts';
import { sentenceOf } from '../reasons.ts';
import type { RolloutDecision } from '../rollout-decision.ts';
import { told } from '../testing/decision-line.ts';
import { aControl, aNode, aRow, aSnapshot, ended, inFlight } from '../testing/snapshot-builder.ts';
import { WEEKDAYS } from '../weekly-window.ts';

const at = (text: string) => Date.parse(`2026-06-${text}:00Z`);
const now = at('10T12:00');
const nights = {
  name: 'nights',
  spec: { scope: {}, time_zone: 'Europe/Berlin', weekly: [{ days: WEEKDAYS, from: '22:00', to: '04:00' }] },
};
const payout = {
  name: 'payout',
  spec: { scope: {}, from: '2026-06-10T06:00:00Z', to: '2026-06-11T00:00:00Z', reason: 'the payout is made' },
};
const nodes = [aRow('a')];
const word = (rule: string, actor: string, expiresAt = now + 1) => ({
  rule,
  actor,
  reason: 'a',
  createdAt: 0,
  expiresAt,
});

function sentences(decision: RolloutDecision): string[] {
  return 'reasons' in decision ? decision.reasons.map(sentenceOf) : [];
}

describe('a maintenance window', () => {
  test('holds outside, says which window and when it opens, and wakes the rollout then', () => {
    const decision = decideNext(aSnapshot({ nodes, windows: [nights] }), now);
    expect(decision).toMatchObject({ kind: 'wait', until: at('10T20:00') });
    expect(sentences(decision)).toEqual([
      'Outside its window (maintenance_window/nights), which opens Wed 2026-06-10 22:00 Europe/Berlin (2026-06-10T20:00:00.000Z).',
    ]);
    expect(told(decideNext(aSnapshot({ nodes, windows: [nights] }), at('10T20:00')))).toBe('run a#1 (running)');
  });

  test('that closes stops new starts, never what runs', () => {
    const running = aSnapshot({ rollout: { batchSize: 2 }, nodes: [inFlight('a'), aRow('b')], windows: [nights] });
    expect(decideNext(running, now)).toMatchObject({
      kind: 'wait',
      until: at('10T20:00'),
      reasons: [{ code: 'nodes_in_flight' }, { code: 'outside_window', nodeIds: ['b'] }],
    });
  });

  test('holds the nodes of its scope only; one that no window covers is always free', () => {
    const east = { ...nights, spec: { ...nights.spec, scope: { labels: { zone: 'east' } } } };
    const fleet = [aNode('a', { labels: { zone: 'east' } }), aNode('b', { labels: { zone: 'west' } })];
    const decision = decideNext(
      aSnapshot({ rollout: { batchSize: 2 }, nodes: [aRow('a'), aRow('b')], fleet, windows: [east] }),
      now,
    );
    expect(told(decision)).toBe('run b#1 (running)');
    expect(decision).toMatchObject({ reasons: [{ code: 'outside_window', nodeIds: ['a'] }] });
  });

  test('is one promise of several: all that cover a node must be open, and each that is not is told', () => {
    const noon = { name: 'noon', spec: { ...nights.spec, weekly: [{ days: WEEKDAYS, from: '13:00', to: '15:00' }] } };
    const decision = decideNext(aSnapshot({ nodes, windows: [nights, noon] }), now);
    expect(told(decision)).toBe('wait outside_window (running)');
    const neither = decideNext(aSnapshot({ nodes, windows: [nights, noon] }), at('10T14:00'));
    expect(neither).toMatchObject({ until: at('10T20:00') });
    expect(sentences(neither)).toHaveLength(2);
  });

  test('of the rollout itself is asked beside the others, and one of its own is enough', () => {
    const own = (from: string, to: string) => ({
      ...nights.spec,
      time_zone: 'UTC',
      weekly: [{ days: WEEKDAYS, from, to }],
    });
    const windows = [own('11:00', '13:00'), own('20:30', '21:00')];
    const at2015 = decideNext(aSnapshot({ rollout: { windows }, nodes, windows: [nights] }), at('10T20:15'));
    expect(at2015).toMatchObject({ until: at('10T20:30'), reasons: [{ params: { window: 'rollout_windows' } }] });
    expect(told(decideNext(aSnapshot({ rollout: { windows }, nodes, windows: [nights] }), at('10T20:30')))).toBe(
      'run a#1 (running)',
    );
    expect(told(decideNext(aSnapshot({ rollout: { windows }, nodes }), now))).toBe('run a#1 (running)');
  });

  test('can be set aside by one person, until that expires', () => {
    const overrides = [word('maintenance_window/nights', 'ann')];
    expect(told(decideNext(aSnapshot({ nodes, windows: [nights], overrides }), now))).toBe('run a#1 (running)');
    expect(told(decideNext(aSnapshot({ nodes, windows: [nights], overrides }), now + 1))).toBe(
      'wait outside_window (running)',
    );
  });
});

describe('a freeze', () => {
  test('holds, says why and until when, and wakes the rollout then', () => {
    const decision = decideNext(aSnapshot({ nodes, freezes: [payout] }), now);
    expect(decision).toMatchObject({ kind: 'wait', until: at('11T00:00') });
    expect(sentences(decision)).toEqual(['Frozen until 2026-06-11T00:00:00.000Z (freeze/payout): the payout is made']);
    for (const free of [at('10T05:59'), at('11T00:00')]) {
      expect(told(decideNext(aSnapshot({ nodes, freezes: [payout] }), free))).toBe('run a#1 (running)');
    }
  });

  test('is crossed by the word of two people, not of one twice, and only until one word expires', () => {
    const crossed = (...overrides: ReturnType<typeof word>[]) =>
      told(decideNext(aSnapshot({ nodes, freezes: [payout], overrides }), now));
    const [ann, bob] = [word('freeze/payout', 'ann'), word('freeze/payout', 'bob')];
    expect(crossed(ann)).toBe('wait frozen (running)');
    expect(crossed(ann, ann)).toBe('wait frozen (running)');
    expect(crossed(ann, bob)).toBe('run a#1 (running)');
    expect(crossed(ann, word('freeze/payout', 'bob', now))).toBe('wait frozen (running)');
    expect(crossed(ann, word('freeze/other', 'bob'))).toBe('wait frozen (running)');
  });

  test('and a window that hold the same node are both told, the earlier end wakes', () => {
    const decision = decideNext(aSnapshot({ nodes, windows: [nights], freezes: [payout] }), now);
    expect(told(decision)).toBe('wait frozen outside_window (running)');
    expect(decision).toMatchObject({ until: at('10T20:00') });
  });
});

describe('what a window and a freeze are asked for', () => {
  const shut = { windows: [nights], freezes: [payout] };

  test('a retry waits as a first start does', () => {
    const retry = [ended('a', 'failed', { requestedAttempt: 2 })];
    const decision = decideNext(aSnapshot({ rollout: { failureThreshold: 1 }, nodes: retry, ...shut }), now);
    expect(told(decision)).toBe('wait frozen outside_window (running)');
  });

  test('the way back passes: it is the cure', () => {
    const back = aSnapshot({
      rollout: { direction: 'rollback', startAt: now + 1 },
      controls: [aControl('rollback', 1)],
      nodes: [ended('a', 'succeeded', { requestedAttempt: 2, attemptDirection: 'rollback' })],
      ...shut,
    });
    expect(told(decideNext(back, now))).toBe('run a#2 (running)');
  });
});

describe('a rollout that starts at a time', () => {
  const rollout = { startAt: at('12T08:00') };

  test('is started, waits until then and says so', () => {
    const decision = decideNext(aSnapshot({ rollout, nodes }), now);
    expect(decision).toMatchObject({ kind: 'wait', status: 'running', until: at('12T08:00') });
    expect(sentences(decision)).toEqual(['Waits for its time: nothing starts before 2026-06-12T08:00:00.000Z.']);
    expect(told(decideNext(aSnapshot({ rollout, nodes }), at('12T08:00')))).toBe('run a#1 (running)');
  });

  test('begins earlier by the word of a person, and holds no retry', () => {
    const overrides = [word('start_at', 'ann')];
    expect(told(decideNext(aSnapshot({ rollout, nodes, overrides }), now))).toBe('run a#1 (running)');
    const retry = [ended('a', 'failed', { requestedAttempt: 2 })];
    expect(told(decideNext(aSnapshot({ rollout: { ...rollout, failureThreshold: 1 }, nodes: retry }), now))).toBe(
      'run a#2 (running)',
    );
  });
});
