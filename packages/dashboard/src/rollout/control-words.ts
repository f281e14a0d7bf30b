import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import type { RolloutControlKind } from '@hoodcloud/domain/rollout-control';

/** A control as a button and a question. */
export interface ControlWords {
  /** Last part of the endpoint's path. */
  readonly endpoint: string;
  readonly button: string;
  /** What happens when one confirms, in sentences with the rollout's own figures. */
  readonly consequence: (rollout: RolloutDetail) => string;
  /** It changes what runs on hosts or can't be taken back. */
  readonly grave?: boolean;
}

/** The same control before the first node, where the chain demands a second person (trust.approvals). */
const START_APPROVAL: ControlWords = {
  endpoint: 'approve',
  button: 'Approve the start',
  consequence: ({ binary_name, target_version, chain_profile_id, created_by }) =>
    `You are the second person beside ${created_by}: nodes of ${chain_profile_id} begin to be upgraded to ${binary_name} ${target_version}.`,
  grave: true,
};

/** What a control does in the state that the rollout is in. */
export function wordsOf(kind: RolloutControlKind, { why }: Pick<RolloutDetail, 'why'>): ControlWords {
  const isStart = kind === 'approve_canary' && why.some(({ code }) => code === 'start_approval_needed');
  return isStart ? START_APPROVAL : CONTROL_WORDS[kind];
}

const nodes = (count: number) => (count === 1 ? '1 node' : `${count} nodes`);

/** What each control does, before it is done (C3, C6, C8). */
export const CONTROL_WORDS: Readonly<Record<RolloutControlKind, ControlWords>> = {
  start: {
    endpoint: 'start',
    button: 'Start',
    consequence: ({ binary_name, target_version, chain_profile_id }) =>
      `Nodes of ${chain_profile_id} begin to be upgraded to ${binary_name} ${target_version}, batch by batch.`,
    grave: true,
  },
  pause: {
    endpoint: 'pause',
    button: 'Pause',
    consequence: ({ in_flight_nodes, pending_nodes }) =>
      `No further node begins. ${nodes(in_flight_nodes)} under way will end first; ${nodes(pending_nodes)} wait until you resume.`,
  },
  resume: {
    endpoint: 'resume',
    button: 'Resume',
    consequence: ({ pending_nodes, counted_failures }) =>
      `The next of ${nodes(pending_nodes)} begins. The ${counted_failures} failures so far count as known: only new ones pause the rollout again.`,
  },
  approve_canary: {
    endpoint: 'approve',
    button: 'Approve canaries',
    consequence: ({ pending_nodes }) =>
      `The migration is breaking. ${nodes(pending_nodes)} beyond the canaries begin, and their state may not be readable by the old version any more.`,
    grave: true,
  },
  force: {
    endpoint: 'force',
    button: 'Force',
    consequence: ({ counted_failures, attempted_nodes }) =>
      `The failure threshold and the chain's own height are ignored from now on: the rollout goes on whatever fails (${counted_failures} of ${attempted_nodes} failed so far). This can't be taken back.`,
    grave: true,
  },
  cancel: {
    endpoint: 'cancel',
    button: 'Cancel rollout',
    consequence: ({ in_flight_nodes, succeeded_nodes, pending_nodes }) =>
      `It ends for good. ${nodes(in_flight_nodes)} under way will end first, ${nodes(succeeded_nodes)} keep the new version, ${nodes(pending_nodes)} keep the old one.`,
    grave: true,
  },
  rollback: {
    endpoint: 'rollback',
    button: 'Roll back',
    consequence: ({ succeeded_nodes, in_flight_nodes }) =>
      `${nodes(succeeded_nodes)} get their previous version back, each with a stop and a start. ${nodes(in_flight_nodes)} under way will end first.`,
    grave: true,
  },
  retry: {
    endpoint: 'retry',
    button: 'Retry',
    consequence: () => 'The node is stopped and upgraded once more.',
    grave: true,
  },
  skip: {
    endpoint: 'skip',
    button: 'Skip',
    consequence: () => 'The node is left out of this rollout and keeps the version it has.',
  },
};
