import type { ReceivedEvent } from '../events/receivers/print-event.ts';

export interface OutboxEvent {
  readonly seq: number;
  readonly rollout_id: string | null;
}

/** Figures of one receiver. */
export interface Receipt {
  readonly receiver: string;
  readonly events: number;
  /** Messages that came again under an id that had come before. */
  readonly again: number;
}

/**
 * Compares what a receiver had with the outbox: the same events, those of each rollout in their order.
 * @throws Error naming the receiver and what it had otherwise
 */
export function compareReceipts(
  receiver: string,
  outbox: readonly OutboxEvent[],
  had: readonly ReceivedEvent[],
): Receipt {
  const distinct = [...new Map(had.map((event) => [event.id, event])).values()];
  const got = byRollout(distinct);
  for (const [rollout, seqs] of byRollout(outbox)) {
    const theirs = got.get(rollout) ?? [];
    if (String(theirs) !== String(seqs)) {
      throw new Error(`${receiver} had of rollout ${rollout}: ${theirs.join(' ')}; the outbox: ${seqs.join(' ')}`);
    }
  }
  const numbers = new Set(distinct.map(({ seq }) => seq));
  const lost = outbox.filter(({ seq }) => !numbers.has(seq));
  if (lost.length > 0 || distinct.length !== outbox.length) {
    throw new Error(`${receiver} had ${distinct.length} of ${outbox.length} events and lost ${lost.length}`);
  }
  return { receiver, events: distinct.length, again: had.length - distinct.length };
}

/** Numbers of each rollout's events, in the order of the list; those of no rollout come in any order. */
function byRollout(events: readonly OutboxEvent[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { seq, rollout_id } of events) {
    if (rollout_id === null) continue;
    found.set(rollout_id, [...(found.get(rollout_id) ?? []), seq]);
  }
  return found;
}
