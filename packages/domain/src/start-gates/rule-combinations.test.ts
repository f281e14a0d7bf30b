import { describe, expect, test } from 'vitest';
import { ASKED_AT, answerFor, everyPair, holdsOn, neverTogether, waysAround } from '../testing/rule-combination.ts';
import { WHAT_HOLDS } from '../testing/what-holds.ts';
import type { StartPurpose } from './start-gate.ts';
import { START_GATE_NAMES } from './start-gates.ts';

const PURPOSES: readonly StartPurpose[] = ['first', 'retry', 'rollback'];
const codesOf = (gates: readonly (typeof START_GATE_NAMES)[number][]) => gates.map((gate) => WHAT_HOLDS[gate].code);
const pairs = everyPair();
const together = pairs.filter(([first, second]) => neverTogether(first, second) === null);
const apart = pairs.filter(([first, second]) => neverTogether(first, second) !== null);

describe.each(PURPOSES)('any two rules hold a node (%s)', (purpose) => {
  test('none alone holds what it should let pass, and each is told in decision and why', () => {
    expect(answerFor({ gates: [], purpose })).toEqual({ decided: [], told: [], starts: true });
    for (const gate of START_GATE_NAMES) {
      const codes = holdsOn(gate, purpose) ? codesOf([gate]) : [];
      const answer = { decided: codes, told: codes, starts: codes.length === 0 };
      expect(answerFor({ gates: [gate], purpose }), gate).toEqual(answer);
    }
  });

  test('both are told, in the order of the gates, whichever came first; none is lost', () => {
    for (const pair of together) {
      const codes = codesOf(pair.filter((gate) => holdsOn(gate, purpose)));
      const answer = { decided: codes, told: codes, starts: codes.length === 0 };
      expect(answerFor({ gates: pair, purpose }), pair.join(' and ')).toEqual(answer);
      expect(answerFor({ gates: pair.toReversed(), purpose }), pair.toReversed().join(' and ')).toEqual(answer);
    }
  });

  test('with one of them set aside the other one holds still, and with both the node starts', () => {
    for (const pair of together) {
      for (const aside of [[pair[0]], [pair[1]], pair]) {
        const left = pair.filter((gate) => !aside.includes(gate) || waysAround(gate) === null);
        const codes = codesOf(left.filter((gate) => holdsOn(gate, purpose)));
        const answer = { decided: codes, told: codes, starts: codes.length === 0 };
        expect(answerFor({ gates: pair, purpose, aside }), `${pair.join(' and ')}, less ${aside}`).toEqual(answer);
      }
    }
  });
});

test('an override that has expired sets nothing aside, whatever else holds', () => {
  const overridable = together.filter((pair) => pair.some((gate) => typeof waysAround(gate) === 'object'));
  expect(overridable.length).toBeGreaterThan(50);
  for (const pair of overridable) {
    const aside = pair.filter((gate) => waysAround(gate) !== 'force');
    const codes = codesOf(pair);
    const answer = answerFor({ gates: pair, purpose: 'first', aside, expiresAt: ASKED_AT });
    expect(answer, pair.join(' and ')).toEqual({ decided: codes, told: codes, starts: false });
  }
});

test('two rules that never hold one node together leave the one that does', () => {
  for (const pair of apart) {
    const { told, starts } = answerFor({ gates: pair, purpose: 'first' });
    expect(told, pair.join(' and ')).toHaveLength(1);
    expect(codesOf(pair)).toContain(told[0]);
    expect(starts).toBe(false);
  }
});
