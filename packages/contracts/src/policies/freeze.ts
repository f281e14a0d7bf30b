import { z } from 'zod';
import { timestampSchema } from '../http/common.ts';
import { policyScopeSchema } from './policy-scope.ts';

/** A time in which no node of a scope is started. */
export const freezeSchema = z
  .strictObject({
    scope: policyScopeSchema.default({}),
    from: timestampSchema,
    to: timestampSchema,
    /** Why, as those who wait read it. */
    reason: z.string().min(1).max(500),
  })
  .refine(({ from, to }) => Date.parse(from) < Date.parse(to), { path: ['to'], error: 'must be after from' })
  .meta({ id: 'Freeze' });
export type Freeze = z.infer<typeof freezeSchema>;
