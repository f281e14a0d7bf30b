import { describe, expect, test } from 'vitest';
import { type AttemptStartFacts, judgeAttemptStart } from './attempt-start.ts';
import { aControl, aRow, ended, inFlight } from './testing/snapshot-builder.ts';

const judged = (over: Partial<AttemptStartFacts>) => {
  const answer = judgeAttemptStart({
    rollout: { status: 'running', direction: 'upgrade' },
    controls: [],
    row: aRow('a'),
    attempt: 1,
    now: 40_000,
    ...over,
  });
  return answer.kind === 'refused' ? `refused ${answer.reason.code}` : answer.kind;
};

const wantedRetry = { row: ended('a', 'failed', { requestedAttempt: 2 }), attempt: 2 };

test('a child that was started for the wanted attempt starts it', () => {
  expect(judged({})).toBe('start');
  expect(judged(wantedRetry)).toBe('start');
  expect(judged({ row: aRow('a', { offeredAt: 10_001 }) })).toBe('start');
});

test('a child that is started a second time goes on and changes nothing (C13)', () => {
  expect(judged({ row: inFlight('a') })).toBe('under_way');
});

test.each([
  ['of an attempt that has ended', { row: ended('a', 'succeeded') }],
  ['of an attempt that is not the next', { row: ended('a', 'failed', { requestedAttempt: 3 }), attempt: 2 }],
  ['of a node that is in another attempt', { row: inFlight('a', { attemptCount: 2, requestedAttempt: 2 }) }],
  ['of a retry from before the rollback', { ...wantedRetry, rollout: { status: 'running', direction: 'rollback' } }],
  ['whose offer has lapsed, so that its place may be taken (C7)', { row: aRow('a', { offeredAt: 10_000 }) }],
  ['of a node that was skipped meanwhile', { row: aRow('a', { status: 'skipped' }) }],
] as [string, Partial<AttemptStartFacts>][])('a child %s is superseded', (_what, over) => {
  expect(judged(over)).toBe('refused superseded');
});

describe('what was ordered since the offer holds too', () => {
  test('nothing starts after a cancel, no retry either (field-case 90)', () => {
    expect(judged({ controls: [aControl('cancel', 1)] })).toBe('refused canceling');
    expect(judged({ controls: [aControl('cancel', 1)], ...wantedRetry })).toBe('refused canceling');
    expect(judged({ rollout: { status: 'canceled', direction: 'upgrade' } })).toBe('refused canceling');
  });

  test('a pause holds first attempts and the way back, and no retry', () => {
    const controls = [aControl('pause', 1)];
    expect(judged({ controls })).toBe('refused pausing');
    expect(judged({ controls, ...wantedRetry })).toBe('start');
    const back = { row: ended('a', 'succeeded', { requestedAttempt: 2, attemptDirection: 'rollback' }), attempt: 2 };
    expect(judged({ controls, ...back, rollout: { status: 'running', direction: 'rollback' } })).toBe(
      'refused pausing',
    );
  });

  test('a pause sent by hand to a rollout that is over holds no retry of the way back', () => {
    const back = { row: ended('a', 'failed', { requestedAttempt: 3, attemptDirection: 'rollback' }), attempt: 3 };
    const over = { status: 'failed', direction: 'rollback' } as const;
    expect(judged({ controls: [aControl('pause', 1)], ...back, rollout: over })).toBe('start');
  });

  test('nothing goes up any more once a rollback is ordered, and the way back starts', () => {
    const controls = [aControl('rollback', 1)];
    expect(judged({ controls })).toBe('refused rollback_draining');
    const back = { row: ended('a', 'succeeded', { requestedAttempt: 2, attemptDirection: 'rollback' }), attempt: 2 };
    expect(judged({ controls, ...back, rollout: { status: 'running', direction: 'rollback' } })).toBe('start');
  });
});
