import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { REASONS, type ReasonCode, sentenceOf } from '../reasons.ts';
import { ROLLOUT_STRATEGIES } from '../rollout-strategy-name.ts';
import { randomStep, START, take } from '../testing/random-steps.ts';
import { aPendingWorld } from '../testing/small-world.ts';
import { answerOf } from '../testing/why-case.ts';
import { WHY_CASES } from '../testing/why-cases.ts';
import { whyNodeWaits } from './node-why.ts';
import { whyRolloutWaits } from './rollout-why.ts';
import { HISTORY_ONLY, isWaitingReason, WAITING_REASONS, type WaitingReasonCode } from './waiting-reasons.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const codes = Object.keys(WAITING_REASONS) as WaitingReasonCode[];

describe('why does it wait (C11)', () => {
  test.each(codes)('%s is answered in a state that has it', (code) => {
    const answer = answerOf(WHY_CASES[code](NOW), NOW);
    expect(answer.map((one) => one.code)).toContain(code);
    for (const one of answer) expect(sentenceOf(one), 'every parameter of the sentence is filled').not.toMatch(/\?|\{/);
  });

  it('has a decision for every reason: an answer, with what to do, or history only', () => {
    const decided = [...codes, ...Object.keys(HISTORY_ONLY)].sort();
    expect(decided).toEqual((Object.keys(REASONS) as ReasonCode[]).sort());
    expect(codes.filter((code) => !WAITING_REASONS[code].next.endsWith('.'))).toEqual([]);
  });

  it('names who ordered what is being carried out, and why', () => {
    const told = (code: WaitingReasonCode) => answerOf(WHY_CASES[code](NOW), NOW).map(sentenceOf);
    expect(told('pausing')).toContain('Paused by ann: because');
    expect(told('canceling')).toContain('Canceled by ann: because');
    expect(told('rollback_draining')).toContain('Rollback ordered by ann: because');
  });

  it('tells how far the step is and how long it usually takes', () => {
    expect(answerOf(WHY_CASES.agent_step(NOW), NOW).map(sentenceOf)).toEqual([
      'The agent is at acquire_artifact since 2025-12-31T23:59:48.000Z (40 %, 10 of 26 MB); it usually takes 9 s.',
    ]);
    const first = { ...WHY_CASES.agent_step(NOW), earlier: {} };
    expect(answerOf(first, NOW).map(sentenceOf)[0]).toContain('no earlier run tells how long that takes');
  });

  it('tells a later batch what the batch before it waits for', () => {
    expect(answerOf(WHY_CASES.batch_waits(NOW), NOW).map(sentenceOf)).toEqual([
      'Batch 1 waits for batch 0: 1 node in flight, 1 not begun.',
    ]);
  });
});

const aWorld = fc.record({
  nodes: fc.integer({ min: 1, max: 6 }),
  strategy: fc.constantFrom(...ROLLOUT_STRATEGIES),
  batchSize: fc.integer({ min: 1, max: 3 }),
  failureThreshold: fc.constantFrom(0, 0.5, 1),
  maxInFlight: fc.option(fc.integer({ min: 1, max: 3 })),
  offlinePolicy: fc.constantFrom('skip', 'wait'),
});

test('whatever nodes, hosts, chain and people do, rollout and nodes have an answer at any time', () => {
  fc.assert(
    fc.property(aWorld, fc.array(randomStep(1), { maxLength: 40 }), ({ nodes, ...rollout }, steps) => {
      const world = aPendingWorld(nodes, rollout);
      for (const step of [START, ...steps]) {
        take(world, step);
        const snapshot = world.snapshot();
        const why = whyRolloutWaits(snapshot, null, world.now);
        const usual = () => null;
        const answers = snapshot.nodes.map((row) => {
          const attempt = { nodeId: row.nodeId, command: null, health: [], statusReason: null };
          return whyNodeWaits(row, { attempt, agent: snapshot.fleet.get(row.nodeId), usual }, () => why);
        });
        for (const answer of [why.reasons, ...answers]) {
          expect(answer).not.toEqual([]);
          for (const { code } of answer) expect(isWaitingReason(code), code).toBe(true);
        }
      }
    }),
    { numRuns: 200 },
  );
});
