import { z } from 'zod';
import { POLICY_SPECS, type PolicyKind, policyNameSchema } from '../policies/policy-document.ts';
import { pageQuerySchema, pageSchema, reasonSchema, timestampSchema, uuidSchema, whySchema } from './common.ts';

const POLICY_KINDS = Object.keys(POLICY_SPECS) as [PolicyKind, ...PolicyKind[]];
const kindSchema = z.enum(POLICY_KINDS);

export const policyNameParamsSchema = z.object({ name: policyNameSchema });
export const policyListQuerySchema = pageQuerySchema.extend({
  kind: kindSchema.optional(),
  /** Only those that this source applied. */
  managed_by: z.string().max(100).optional(),
});

/** Where a policy is written down, such as the name of a repository; a change by hand names none. */
const managedBySchema = z.string().min(1).max(100);

/** Body of `PUT /policies/{kind}/{name}`: the whole policy as it is to be. */
export function putPolicySchema<Kind extends PolicyKind>(kind: Kind) {
  return z.strictObject({
    spec: POLICY_SPECS[kind],
    managed_by: managedBySchema.nullable().default(null),
    reason: whySchema.optional(),
  });
}
export interface PutPolicyInput {
  readonly spec: unknown;
  readonly managed_by?: string | null;
  readonly reason?: string | undefined;
}

export const policySchema = z
  .object({
    id: uuidSchema,
    kind: kindSchema,
    name: policyNameSchema,
    /** As the schema of its kind says: DisruptionBudget, MaintenanceWindow, Freeze. */
    spec: z.record(z.string(), z.unknown()),
    /** Grows by one with each change. */
    revision: z.number().int(),
    managed_by: z.string().nullable(),
    created_by: z.string(),
    created_at: timestampSchema,
    updated_by: z.string(),
    updated_at: timestampSchema,
    /** Nodes of the fleet that its scope covers now. */
    covered_nodes: z.number().int(),
  })
  .meta({ id: 'Policy' });
export type PolicyView = z.infer<typeof policySchema>;
export const policyPageSchema = pageSchema(policySchema);

/** How long an override holds when nobody says, and at the most, in seconds. */
export const OVERRIDE_SECONDS = { usual: 4 * 3600, most: 7 * 86_400 } as const;

export const overrideRequestSchema = z
  .strictObject({
    /** The rule as the rollout's overrides list it, such as `freeze/payout`. */
    rule: z.string().min(1).max(200),
    /** Why; kept in the history with who said it. */
    reason: z.string().trim().min(1).max(500),
    expires_in_seconds: z.number().int().min(60).max(OVERRIDE_SECONDS.most).default(OVERRIDE_SECONDS.usual),
  })
  .meta({ id: 'OverrideRequest', examples: [{ rule: 'freeze/payout', reason: 'CVE fix, agreed with the desk' }] });
export type OverrideRequest = z.input<typeof overrideRequestSchema>;

/** One person's word that a rule does not hold for a rollout. */
const overrideSchema = z
  .object({
    id: uuidSchema,
    rule: z.string(),
    actor: z.string(),
    reason: z.string(),
    created_at: timestampSchema,
    expires_at: timestampSchema,
    expired: z.boolean(),
  })
  .meta({ id: 'Override' });

/** What was set aside for a rollout, and which rules hold its nodes back that can be. */
export const rolloutOverridesSchema = z
  .object({
    items: z.array(overrideSchema),
    holding: z.array(
      z.object({
        rule: z.string(),
        /** How many different people it takes, and who has said so already. */
        persons: z.number().int(),
        agreed: z.array(z.string()),
        nodes: z.number().int(),
        reason: reasonSchema,
      }),
    ),
  })
  .meta({ id: 'RolloutOverrides' });
export type RolloutOverrides = z.infer<typeof rolloutOverridesSchema>;
