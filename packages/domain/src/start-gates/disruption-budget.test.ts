import { describe, expect, test } from 'vitest';
import { decideNext } from '../decide-next.ts';
import { budgetLimit } from '../disruption-budget-facts.ts';
import { sentenceOf } from '../reasons.ts';
import { told } from '../testing/decision-line.ts';
import { aBudget, aControl, aNode, aRow, aSnapshot, ended, inFlight } from '../testing/snapshot-builder.ts';

const now = 10_000;
const nodes = [aRow('a'), aRow('b'), aRow('c')];
const rollout = { batchSize: 3 } as const;
const full = aBudget({ names: ['x'] });

describe('a disruption budget', () => {
  test('counts the nodes that the same answer starts', () => {
    const decision = decideNext(aSnapshot({ rollout, nodes, budgets: [aBudget({ maxUnavailable: 2 })] }), now);
    expect(told(decision)).toBe('run a#1 b#1 (running)');
    expect(decision).toMatchObject({ reasons: [{ code: 'disruption_budget_reached', nodeIds: ['c'] }] });
  });

  test('counts offered nodes, which are about to be in flight', () => {
    const offered = [aRow('a', { offeredAt: now - 1 }), aRow('b')];
    const decision = decideNext(aSnapshot({ rollout, nodes: offered, budgets: [aBudget({})] }), now);
    expect(decision).toMatchObject({ kind: 'wait', reasons: [{}, { code: 'disruption_budget_reached' }] });
  });

  test('names the budget, its limit and who is down, and is asked again by itself', () => {
    const decision = decideNext(aSnapshot({ nodes: [aRow('a')], budgets: [full] }), now);
    expect(decision).toMatchObject({ kind: 'wait', until: now + 10_000 });
    expect('reasons' in decision && decision.reasons.map(sentenceOf)).toEqual([
      'Disruption budget fleet: 1 of 10 nodes may be unavailable, and 1 are or are about to be: x.',
    ]);
  });

  test('a node that is down counts already, so it may start (never counted twice)', () => {
    for (const down of [{ state: 'down' }, { online: false }, { state: 'maintenance' }] as const) {
      const snapshot = aSnapshot({
        nodes: [aRow('a')],
        fleet: [aNode('a', down)],
        budgets: [aBudget({ names: ['a'] })],
      });
      expect(told(decideNext(snapshot, now))).toBe('run a#1 (running)');
    }
  });

  test('an ill node may still serve: it needs its place, and takes the one that it fills already', () => {
    const ill = [aNode('a', { state: 'degraded' })];
    const only = aSnapshot({ nodes: [aRow('a')], fleet: ill, budgets: [aBudget({ names: ['a'] })] });
    expect(told(decideNext(only, now))).toBe('run a#1 (running)');
    const both = aSnapshot({ nodes: [aRow('a')], fleet: ill, budgets: [aBudget({ names: ['a', 'x'] })] });
    expect(told(decideNext(both, now))).toBe('wait disruption_budget_reached (running)');
  });

  test('the way back and a retry obey it too (field-case 102)', () => {
    const retry = [ended('a', 'failed', { requestedAttempt: 2 })];
    expect(told(decideNext(aSnapshot({ rollout: { failureThreshold: 1 }, nodes: retry, budgets: [full] }), now))).toBe(
      'wait disruption_budget_reached (running)',
    );
    const back = aSnapshot({
      rollout: { direction: 'rollback' },
      controls: [aControl('rollback', 1)],
      nodes: [ended('a', 'succeeded', { requestedAttempt: 2, attemptDirection: 'rollback' })],
      budgets: [full],
    });
    expect(told(decideNext(back, now))).toBe('wait disruption_budget_reached (running)');
  });

  test('force does not lift it; a person who sets it aside by name does, for this rollout', () => {
    const forced = aSnapshot({ nodes: [aRow('a')], budgets: [full], controls: [aControl('force', 1)] });
    expect(told(decideNext(forced, now))).toBe('wait disruption_budget_reached (running)');
    const word = { rule: 'disruption_budget/fleet', actor: 'ann', reason: 'now', createdAt: 0, expiresAt: now + 1 };
    expect(told(decideNext(aSnapshot({ nodes: [aRow('a')], budgets: [full], overrides: [word] }), now))).toBe(
      'run a#1 (running)',
    );
  });

  test('each value of its label has a budget of its own, and every full one is told', () => {
    const zone = (id: string, name: string) => aNode(id, { labels: { zone: name } });
    const groups = new Map([
      ['north', { members: 4, unavailable: 1, names: ['x'] }],
      ['south', { members: 4, unavailable: 1, names: ['y'] }],
      ['west', { members: 4, unavailable: 0, names: [] }],
    ]);
    const snapshot = aSnapshot({
      rollout: { batchSize: 4 },
      nodes: [...nodes, aRow('d')],
      fleet: [zone('a', 'north'), zone('b', 'south'), zone('c', 'west')],
      budgets: [{ ...aBudget({ name: 'zones', per: 'zone' }), groups }],
    });
    const decision = decideNext(snapshot, now);
    expect(told(decision)).toBe('run c#1 d#1 (running)');
    expect('reasons' in decision && decision.reasons.map(({ params, nodeIds }) => [params.where, nodeIds])).toEqual([
      [' (zone north)', ['a']],
      [' (zone south)', ['b']],
    ]);
  });

  test('is for the nodes of its scope alone', () => {
    const elsewhere = { ...full, scope: { labels: { zone: 'north' } } };
    expect(told(decideNext(aSnapshot({ nodes: [aRow('a')], budgets: [elsewhere] }), now))).toBe('run a#1 (running)');
  });

  test('a node in flight has its place', () => {
    const snapshot = aSnapshot({ rollout, nodes: [inFlight('a'), aRow('b')], budgets: [aBudget({ names: ['a'] })] });
    expect(told(decideNext(snapshot, now))).toBe('wait nodes_in_flight disruption_budget_reached (running)');
  });
});

test.each([
  [3, 100, 3, ''],
  ['25%', 10, 2, ' (25%, rounded down)'],
  ['100%', 7, 7, ' (100%, rounded down)'],
  ['10%', 9, 1, ' (10% is less than one node, so the least limit of 1 holds)'],
  ['10%', 0, 1, ' (10% is less than one node, so the least limit of 1 holds)'],
])('a limit of %s of %i nodes is %i, and the floor is said', (max, members, count, how) => {
  expect(budgetLimit(max, members)).toEqual({ count, how });
});
