import { z } from 'zod';
import { pageSchema, timestampSchema, uuidSchema } from './common.ts';
import { scopeSchema } from './scopes.ts';

export const createApiKeySchema = z.strictObject({
  name: z.string().min(1).max(100),
  /** What the key may do; a scope includes the ones before it. Looking is all that nobody asked for. */
  scopes: z.array(scopeSchema).min(1).max(3).default(['read']),
});
export type CreateApiKeyInput = z.input<typeof createApiKeySchema>;

export const apiKeySchema = z.object({
  id: uuidSchema,
  name: z.string(),
  scopes: z.array(scopeSchema),
  created_by: z.string(),
  created_at: timestampSchema,
  last_used_at: timestampSchema.nullable(),
  revoked_at: timestampSchema.nullable(),
});
export type ApiKeyView = z.infer<typeof apiKeySchema>;

/** The secret is shown this once; only its hash is stored. */
export const createdApiKeySchema = apiKeySchema.extend({ secret: z.string() });
export type CreatedApiKey = z.infer<typeof createdApiKeySchema>;

export const apiKeyPageSchema = pageSchema(apiKeySchema);
