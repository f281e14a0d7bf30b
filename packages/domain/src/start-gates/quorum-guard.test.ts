import { describe, expect, test } from 'vitest';
import { decideNext } from '../decide-next.ts';
import { parseShare, shareText, staysBelow } from '../quorum-facts.ts';
import { sentenceOf } from '../reasons.ts';
import { told } from '../testing/decision-line.ts';
import { aControl, aNode, aRow, aSnapshot, ended } from '../testing/snapshot-builder.ts';

const now = 10_000;
const rollout = { strategy: 'all_at_once' } as const;
const nodes = ['a', 'b', 'c', 'd'].map((id) => aRow(id));
const votes = (power: bigint, ...ids: string[]) => ids.map((id) => aNode(id, { votingPower: power }));
const four = votes(10n, 'a', 'b', 'c', 'd');

describe('the quorum guard', () => {
  test('lets one of four equal validators go, all_at_once or not, and says why the others wait', () => {
    const decision = decideNext(aSnapshot({ rollout, nodes, fleet: four, quorum: {} }), now);
    expect(told(decision)).toBe('run a#1 (running)');
    expect(decision).toMatchObject({ reasons: [{ code: 'quorum_at_risk', nodeIds: ['b', 'c', 'd'] }] });
    expect('reasons' in decision && decision.reasons.map(sentenceOf)).toEqual([
      'With b down, 0.50 of the voting power of chain would be, and it must stay below 1/3. Down or about to be: a.',
    ]);
  });

  test('the share must stay below the limit: exactly a third is too much, a vote less is not', () => {
    const one = (power: bigint) =>
      told(decideNext(aSnapshot({ nodes: [aRow('a')], fleet: votes(power, 'a'), quorum: { total: 30n } }), now));
    expect(one(10n)).toBe('wait quorum_at_risk (running)');
    expect(one(9n)).toBe('run a#1 (running)');
  });

  test("counts what is down already, and other people's validators in the total alone", () => {
    const parts = { nodes: [aRow('a')], fleet: four.slice(0, 1) };
    const down = decideNext(aSnapshot({ ...parts, quorum: { down: 10n, names: ['x'] } }), now);
    expect(down).toMatchObject({
      kind: 'wait',
      until: now + 10_000,
      reasons: [{ params: { share: '0.50', who: 'x' } }],
    });
    const large = aSnapshot({ ...parts, quorum: { total: 1_000n, down: 300n } });
    expect(told(decideNext(large, now))).toBe('run a#1 (running)');
  });

  test('a validator that is down counts already, so it may start', () => {
    const fleet = [aNode('a', { votingPower: 10n, state: 'down' })];
    const snapshot = aSnapshot({ nodes: [aRow('a')], fleet, quorum: { down: 20n, names: ['a', 'x'] } });
    expect(told(decideNext(snapshot, now))).toBe('run a#1 (running)');
  });

  test('an ill validator may still sign: it is counted once, and needs room like a healthy one', () => {
    const fleet = [aNode('a', { votingPower: 10n, state: 'degraded' })];
    const alone = aSnapshot({ nodes: [aRow('a')], fleet, quorum: { down: 10n, names: ['a'] } });
    expect(told(decideNext(alone, now))).toBe('run a#1 (running)');
    const both = aSnapshot({ nodes: [aRow('a')], fleet, quorum: { down: 20n, names: ['a', 'x'] } });
    expect(told(decideNext(both, now))).toBe('wait quorum_at_risk (running)');
  });

  test('power that nobody knows never opens it: not its own, not that of who is down, not of the chain', () => {
    const why = (quorum: object, power?: bigint) => {
      const fleet = [aNode('a', { votingPower: power ?? null })];
      const decision = decideNext(aSnapshot({ nodes: [aRow('a')], fleet, quorum }), now);
      return 'reasons' in decision && decision.reasons.map(({ code, params }) => `${code} ${params.who}`);
    };
    expect(why({})).toEqual(['voting_power_unknown a']);
    expect(why({ unknown: ['x'] }, 1n)).toEqual(['voting_power_unknown x']);
    expect(why({ total: null }, 1n)).toEqual(['voting_power_unknown the chain']);
  });

  test('holds no node that has no vote, whatever is down', () => {
    const full = [aNode('a', { nodeType: 'full' })];
    for (const quorum of [{ down: 30n }, { unknown: ['x'] }, { total: null }]) {
      expect(told(decideNext(aSnapshot({ nodes: [aRow('a')], fleet: full, quorum }), now))).toBe('run a#1 (running)');
    }
    const zero = votes(0n, 'a');
    expect(told(decideNext(aSnapshot({ nodes: [aRow('a')], fleet: zero, quorum: { down: 30n } }), now))).toBe(
      'run a#1 (running)',
    );
  });

  test('retry and way back obey; force does not lift it, an override by name does', () => {
    const quorum = { down: 10n, names: ['x'] };
    const retry = { rollout: { failureThreshold: 1 }, nodes: [ended('a', 'failed', { requestedAttempt: 2 })] };
    const back = {
      rollout: { direction: 'rollback' } as const,
      controls: [aControl('rollback', 1)],
      nodes: [ended('a', 'succeeded', { requestedAttempt: 2, attemptDirection: 'rollback' })],
    };
    const forced = { nodes: [aRow('a')], controls: [aControl('force', 1)] };
    for (const parts of [retry, back, forced]) {
      const held = decideNext(aSnapshot({ ...parts, fleet: four, quorum }), now);
      expect(told(held)).toBe('wait quorum_at_risk (running)');
      const word = { rule: 'quorum/chain', actor: 'ann', reason: 'now', createdAt: 0, expiresAt: now + 1 };
      expect(decideNext(aSnapshot({ ...parts, fleet: four, quorum, overrides: [word] }), now).kind).toBe('run');
    }
  });
});

test('shares are exact for powers that no floating point number holds', () => {
  const third = { numerator: 1n, denominator: 3n };
  const total = 3n * 10n ** 17n + 3n;
  expect(staysBelow(total / 3n, total, third)).toBe(false);
  expect(staysBelow(total / 3n - 1n, total, third)).toBe(true);
});

test.each([
  ['1/3', true],
  ['1/1', true],
  ['0/3', false],
  ['4/3', false],
  ['1/0', false],
  ['0.33', false],
])('%s is a limit: %s', (text, good) => {
  expect(parseShare(text) !== null).toBe(good);
});

test('a share for people is rounded up, so that a limit never looks kept that was not', () => {
  expect([shareText(1n, 3n), shareText(3n, 4n), shareText(1n, 1n), shareText(0n, 5n)]).toEqual([
    '0.34',
    '0.75',
    '1.00',
    '0.00',
  ]);
});
