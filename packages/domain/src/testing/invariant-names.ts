/** What must hold at any moment, whatever happens; the checks are in `rollout-invariants.ts`. */
export const INVARIANTS = {
  max_in_flight: 'Never more nodes in flight than max_in_flight (C7).',
  one_batch: 'First attempts of one batch only are in flight (spec, Rollout Strategies).',
  batch_size: 'Never more first attempts in flight than a batch holds.',
  rollback_batch_size: 'Never more nodes on the way back than a batch holds (C3).',
  attempts_wanted: 'No attempt begins that nobody wanted (C8).',
  no_start_after_cancel: 'Nothing starts after a cancel (C6).',
  no_upgrade_on_the_way_back: 'Nothing goes up on the way back (C10).',
  no_first_attempt_while_paused: 'No first attempt starts while the rollout is paused (C6).',
  same_answer: 'The same rows and time give the same answer (C7a).',
  asked_nodes_are_enough: 'A decision that knows of the fleet only the nodes it may ask about is the same decision.',
  startable: 'Only a node that is neither in flight nor left out starts, each once.',
  next_attempt: 'A start is the attempt after the last one (C8).',
  max_failures: 'No batch goes on beyond max_failures, unless forced or resumed (C5).',
  failure_threshold: 'No batch goes on beyond the threshold, unless forced or resumed (C5).',
  batches_in_order: 'A batch begins when every batch before has ended.',
  approval: 'A breaking migration begins no second batch without an approval of its canaries (C6).',
  failed_canary_seen: 'Nothing follows a failed canary that no person has seen.',
  canaries_observed: 'Nothing follows the canaries before they were watched (spec, Canary).',
  wait_has_reason: 'Every wait has a reason (C11).',
  wait_for_later: 'It waits for a time to come.',
  stands_still: 'A rollout pauses, turns round and ends with nothing in flight (spec, Cancellation).',
  completed_is_terminal: 'A completed rollout has no node that has not ended (C4).',
  rolled_back_is_back: 'A rolled back rollout has no node left on the new version (C10).',
  ended_starts_retries_only: 'A rollout that is over starts nothing but retries that a person ordered (C8).',
} as const satisfies Readonly<Record<string, string>>;

export type InvariantName = keyof typeof INVARIANTS;
