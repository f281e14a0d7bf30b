import type { ReasonCode } from './reasons.ts';

/** Reasons of a rollout that stands until somebody approves it: its canaries, or before its first node (trust.approvals). */
export const APPROVAL_REASONS = [
  'waiting_for_approval',
  'start_approval_needed',
] as const satisfies readonly ReasonCode[];

/** Whether a reason's code asks for an approval. */
export function asksForApproval(code: string): boolean {
  return (APPROVAL_REASONS as readonly string[]).includes(code);
}
