import { z } from 'zod';
import { scopeSchema } from './scopes.ts';

/** Who the API takes the caller for. */
export const identitySchema = z
  .object({
    /** `key:<name>` or `user:<subject>`: what the history shows. */
    actor: z.string(),
    /** Everything the caller may do. */
    scopes: z.array(scopeSchema),
  })
  .meta({ id: 'Identity' });
export type IdentityView = z.infer<typeof identitySchema>;
