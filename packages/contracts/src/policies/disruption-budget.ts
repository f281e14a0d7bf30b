import { z } from 'zod';
import { policyScopeSchema } from './policy-scope.ts';

/** How many nodes of a scope may be unavailable at once, across all rollouts and chains. */
export const disruptionBudgetSchema = z
  .strictObject({
    scope: policyScopeSchema.default({}),
    /** A label, such as `zone`: each of its values has a budget of its own. */
    per: z.string().min(1).max(100).optional(),
    /** A count, or a percentage of the scope's nodes: it rounds down, and never below 1. */
    max_unavailable: z.union([
      z.number().int().min(1),
      z.string().regex(/^([1-9]\d?|100)%$/, 'must be a count of at least 1, or 1% to 100%'),
    ]),
  })
  .meta({ id: 'DisruptionBudget' });
export type DisruptionBudget = z.infer<typeof disruptionBudgetSchema>;
