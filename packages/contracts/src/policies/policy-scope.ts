import { z } from 'zod';

const names = z.array(z.string().min(1).max(100)).min(1).max(1000);

/** Which nodes a policy is for (`PolicyScope` of domain/policy-scope.ts); `{}` is the whole fleet. */
export const policyScopeSchema = z
  .strictObject({
    /** Chains, by `chain_profile_id`. */
    chains: names.optional(),
    node_types: names.optional(),
    /** Every label must have this value, or one of these. */
    labels: z.record(z.string().min(1).max(100), z.union([z.string().max(200), names])).optional(),
  })
  .meta({ id: 'PolicyScope' });
