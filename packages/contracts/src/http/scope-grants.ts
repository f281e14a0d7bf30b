import { z } from 'zod';
import { pageQuerySchema, pageSchema, timestampSchema, uuidSchema, whySchema } from './common.ts';
import { scopeSchema } from './scopes.ts';

const subjectSchema = z.string().regex(/^[\x21-\x7e]{1,200}$/, 'the sub of the token: 1 to 200 visible characters');

export const createScopeGrantSchema = z
  .strictObject({
    /** `sub` of the tokens of whom it is granted to. */
    subject: subjectSchema,
    scope: scopeSchema,
    reason: whySchema.optional(),
  })
  .meta({ id: 'CreateScopeGrant', examples: [{ subject: '9f3c-alice', scope: 'operate' }] });
export type CreateScopeGrantInput = z.input<typeof createScopeGrantSchema>;

/** What the backend has granted somebody who comes with a JWT. */
export const scopeGrantSchema = z
  .object({
    id: uuidSchema,
    subject: z.string(),
    scope: scopeSchema,
    granted_by: z.string(),
    reason: z.string().nullable(),
    granted_at: timestampSchema,
    revoked_at: timestampSchema.nullable(),
    revoked_by: z.string().nullable(),
  })
  .meta({ id: 'ScopeGrant' });
export type ScopeGrantView = z.infer<typeof scopeGrantSchema>;

export const scopeGrantListQuerySchema = pageQuerySchema.extend({ subject: z.string().max(200).optional() });
export const scopeGrantPageSchema = pageSchema(scopeGrantSchema);
