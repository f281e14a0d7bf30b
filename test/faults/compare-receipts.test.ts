import { describe, expect, it } from 'vitest';
import { compareReceipts } from './compare-receipts.ts';

const outbox = [
  { seq: 1, rollout_id: 'a' },
  { seq: 2, rollout_id: 'b' },
  { seq: 3, rollout_id: 'a' },
];
const had = (...seqs: number[]) =>
  seqs.map((seq) => ({
    seq,
    id: `event-${seq}`,
    rollout_id: outbox.find((event) => event.seq === seq)?.rollout_id ?? '',
  }));

describe('what a receiver had is compared with the outbox', () => {
  it('the same, each rollout in its order; one that came again counts as such', () => {
    expect(compareReceipts('nats', outbox, had(2, 1, 3, 3))).toEqual({ receiver: 'nats', events: 3, again: 1 });
  });

  it.each([
    ['one was lost', had(1, 2)],
    ['two of a rollout came in another order', had(3, 1, 2)],
    ['nobody wrote one', had(1, 2, 3, 4)],
  ])('is told when %s', (_, received) => {
    expect(() => compareReceipts('nats', outbox, received)).toThrow('nats had');
  });
});
