import type { WaitingReasonCode } from '../why/waiting-reasons.ts';
import type { WhyCase } from './why-case.ts';
import { GROUP_CASES } from './why-cases-of-groups.ts';
import { NODE_CASES } from './why-cases-of-nodes.ts';
import { ROLLOUT_CASES } from './why-cases-of-rollouts.ts';

/**
 * For tests: a state for every answer to "why does it wait?", by its reason. The compiler refuses a new reason without
 * one; the same states are judged here, put into a database, and read through API, hoodctl and dashboard.
 * @param now epoch milliseconds
 */
export const WHY_CASES: Readonly<Record<WaitingReasonCode, (now: number) => WhyCase>> = {
  ...ROLLOUT_CASES,
  ...NODE_CASES,
  ...GROUP_CASES,
};
