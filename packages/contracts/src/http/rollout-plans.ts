import { z } from 'zod';
import { pageQuerySchema, pageSchema, timestampSchema, uuidSchema, whySchema } from './common.ts';
import { fieldErrorSchema } from './problem.ts';
import { rolloutPlanSchema } from './rollout-plan.ts';
import { createRolloutSchema } from './rollout-requests.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Body of `POST /api/v1/rollout-plans`. */
export const saveRolloutPlanSchema = z
  .strictObject({
    /** As `POST /rollouts` takes it. */
    request: createRolloutSchema,
    /** How long it may be started. */
    valid_for_ms: z
      .number()
      .int()
      .min(MINUTE_MS)
      .max(30 * DAY_MS)
      .default(DAY_MS),
    reason: whySchema.optional(),
  })
  .meta({
    id: 'SaveRolloutPlan',
    examples: [
      {
        request: { chain_profile_id: 'celestia-mocha', node_type: 'full', upgrade_id: 'v2', strategy: 'rolling' },
        valid_for_ms: DAY_MS,
        reason: 'for the change board',
      },
    ],
  });
export type SaveRolloutPlanRequest = z.infer<typeof saveRolloutPlanSchema>;
export type SaveRolloutPlanInput = z.input<typeof saveRolloutPlanSchema>;

/** What a saved plan is now: it may be started, it was, or its time is over. */
export const SAVED_PLAN_STATES = ['saved', 'started', 'expired'] as const;

export const savedPlanSchema = z
  .object({
    id: uuidSchema,
    state: z.enum(SAVED_PLAN_STATES),
    chain_profile_id: z.string(),
    node_type: z.string(),
    binary_name: z.string().nullable(),
    target_version: z.string().nullable(),
    strategy: z.string(),
    /** How many would be upgraded. */
    nodes: z.number().int(),
    saved_by: z.string(),
    reason: z.string().nullable(),
    created_at: timestampSchema,
    expires_at: timestampSchema,
    started_by: z.string().nullable(),
    started_at: timestampSchema.nullable(),
    /** Null: never started. */
    rollout_id: uuidSchema.nullable(),
  })
  .meta({ id: 'SavedPlan' });
export type SavedPlanView = z.infer<typeof savedPlanSchema>;

/** One saved plan with what it says, and what is not as it was any more. */
export const savedPlanDetailSchema = savedPlanSchema
  .extend({
    plan: rolloutPlanSchema,
    /** Why a start would be refused now, each thing in a sentence; empty: it may be started. */
    differences: z.array(fieldErrorSchema),
  })
  .meta({ id: 'SavedPlanDetail' });
export type SavedPlanDetail = z.infer<typeof savedPlanDetailSchema>;

export const savedPlanPageSchema = pageSchema(savedPlanSchema);

export const savedPlanListQuerySchema = pageQuerySchema.extend({
  chain_profile_id: z.string().max(100).optional(),
  state: z.enum(SAVED_PLAN_STATES).optional(),
});
export type SavedPlanListQuery = z.infer<typeof savedPlanListQuerySchema>;
