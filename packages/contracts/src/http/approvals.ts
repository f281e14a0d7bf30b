import { z } from 'zod';
import { reasonSchema, timestampSchema, uuidSchema } from './common.ts';

/** What a person must do before it goes on: approve the canaries, decide about a pause, or start it. */
export const APPROVAL_NEEDS = ['approve', 'decide', 'start'] as const;

/** A rollout or a group that stands still until a person acts. */
export const approvalSchema = z
  .object({
    subject_type: z.enum(['rollout', 'rollout_group']),
    subject_id: uuidSchema,
    chain_profile_id: z.string(),
    /** What it brings, e.g. `celestia-node v0.21.0`. */
    brings: z.string(),
    needs: z.enum(APPROVAL_NEEDS),
    /** Why it waits. */
    reasons: z.array(reasonSchema),
    since: timestampSchema,
    created_by: z.string(),
    /** Somebody else than who created it must approve. */
    two_person_approval: z.boolean(),
    /** Why the caller may not, as a sentence; null: the caller may. */
    refusal: z.string().nullable(),
    /** For `If-Match` of the control, so that nobody decides upon what changed meanwhile. */
    etag: z.string(),
  })
  .meta({ id: 'Approval' });
export type ApprovalView = z.infer<typeof approvalSchema>;

/** What waits longest comes first, what was never started last; no more than one a chain, since a chain is changed by one (C2). */
export const approvalListSchema = z.object({ items: z.array(approvalSchema) });
