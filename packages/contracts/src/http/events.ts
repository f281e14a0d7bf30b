import { EVENT_KINDS, SUBJECT_TYPES } from '@hoodcloud/contracts/events/event-kinds';
import { z } from 'zod';
import { pageQuerySchema, pageSchema, reasonSchema, severitySchema, timestampSchema, uuidSchema } from './common.ts';

/** One line of history (C11). `seq` is the cursor of lists and the `id:` of server-sent events. */
export const eventSchema = z
  .object({
    seq: z.number().int(),
    kind: z.enum(EVENT_KINDS),
    subject_type: z.enum(SUBJECT_TYPES),
    subject_id: uuidSchema,
    rollout_id: uuidSchema.nullable(),
    /** Of the rollout, the group, or the node. */
    chain_profile_id: z.string().nullable(),
    node_id: uuidSchema.nullable(),
    node_name: z.string().nullable(),
    reason: reasonSchema.nullable(),
    severity: severitySchema,
    actor: z.string(),
    data: z.record(z.string(), z.unknown()),
    occurred_at: timestampSchema,
  })
  .meta({ id: 'Event' });
export type EventView = z.infer<typeof eventSchema>;

export const eventListQuerySchema = z.object({
  /** Events after this `seq`. */
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1000).default(200),
  /** Only of this node. */
  node_id: uuidSchema.optional(),
  /** The last `limit` events, still in their order, instead of the first ones after `after`; not for streams. */
  newest: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true'),
});
export type EventListQuery = z.infer<typeof eventListQuerySchema>;
/** `next_after` goes into the next question; it equals `after` when nothing new is there. */
export const eventPageSchema = z.object({ items: z.array(eventSchema), next_after: z.number().int() });
export type EventPage = z.infer<typeof eventPageSchema>;

/** Who did what, the newest first. */
export const auditQuerySchema = pageQuerySchema.extend({
  /** `people`: what persons ordered, by key, sign-in or signal; `system`: what the control plane and agents did by themselves. */
  by: z.enum(['people', 'system', 'all']).default('people'),
  /** Part of the actor, in any case. */
  actor: z.string().max(200).optional(),
  kind: z.enum(EVENT_KINDS).optional(),
  severity: severitySchema.optional(),
  chain_profile_id: z.string().max(100).optional(),
  rollout_id: uuidSchema.optional(),
  node_id: uuidSchema.optional(),
  /** Not before. */
  since: timestampSchema.optional(),
  /** Before. */
  until: timestampSchema.optional(),
});
export type AuditQuery = z.infer<typeof auditQuerySchema>;
export const auditPageSchema = pageSchema(eventSchema);
