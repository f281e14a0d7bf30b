import { z } from 'zod';
import { pageSchema, timestampSchema, uuidSchema, whySchema } from './common.ts';
import { scopeSchema } from './scopes.ts';

export const createApiKeySchema = z
  .strictObject({
    name: z.string().min(1).max(100),
    /** What the key may do; a scope includes the ones before it. Looking is all that nobody asked for. */
    scopes: z.array(scopeSchema).min(1).max(3).default(['read']),
    reason: whySchema.optional(),
  })
  .meta({ id: 'CreateApiKey', examples: [{ name: 'on-call', scopes: ['operate'], reason: 'the pager of this week' }] });
export type CreateApiKeyInput = z.input<typeof createApiKeySchema>;

export const apiKeySchema = z
  .object({
    id: uuidSchema,
    name: z.string(),
    scopes: z.array(scopeSchema),
    created_by: z.string(),
    created_at: timestampSchema,
    last_used_at: timestampSchema.nullable(),
    revoked_at: timestampSchema.nullable(),
  })
  .meta({ id: 'ApiKey' });
export type ApiKeyView = z.infer<typeof apiKeySchema>;

/** The secret is shown this once, since only its hash is stored; empty in a dry run and when an `Idempotency-Key` is sent again. */
export const createdApiKeySchema = apiKeySchema.extend({ secret: z.string() }).meta({ id: 'CreatedApiKey' });
export type CreatedApiKey = z.infer<typeof createdApiKeySchema>;

export const apiKeyPageSchema = pageSchema(apiKeySchema);
