import { z } from 'zod';
import { pageSchema, timestampSchema, uuidSchema } from './common.ts';

export const createApiKeySchema = z.strictObject({ name: z.string().min(1).max(100) });

export const apiKeySchema = z.object({
  id: uuidSchema,
  name: z.string(),
  scopes: z.array(z.string()),
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
