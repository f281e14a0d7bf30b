import { z } from 'zod';
import { policyScopeSchema } from '../policies/policy-scope.ts';
import { uuidSchema } from './common.ts';

const size = z.number().int().min(1).max(100_000);

/** `NamedBatch` of domain/batch-order.ts: at most `count`, or `percent` of the nodes that fit, else all of them. */
const namedBatchSchema = z
  .strictObject({ selector: policyScopeSchema, count: size.optional(), percent: z.number().gt(0).max(100).optional() })
  .meta({ id: 'NamedBatch' });

/** Fields of a rollout that say who goes when (`BatchOrder` of domain/batch-order.ts). */
export const batchOrderFields = {
  /** The canaries by name; without them `canary_size` nodes are drawn. */
  canary_node_ids: z.array(uuidSchema).min(1).max(1000).optional(),
  /** Which nodes the canaries are drawn from. */
  canary_selector: policyScopeSchema.optional(),
  /** Batches in their order; what none of them names comes last. */
  batches: z.array(namedBatchSchema).min(1).max(100).optional(),
  /** Batches that grow, instead of `batch_size`: `start` nodes, then `factor` times as many, up to `max`. */
  ramp: z
    .strictObject({ start: size.default(1), factor: z.number().gt(1).max(100).default(2), max: size.optional() })
    .meta({ id: 'Ramp' })
    .optional(),
} as const;

export const batchOrderSchema = z.strictObject(batchOrderFields).meta({ id: 'BatchOrder' });
export type BatchOrderView = z.infer<typeof batchOrderSchema>;
