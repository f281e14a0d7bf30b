import { z } from 'zod';
import { EVENT_KINDS } from '../events/event-kinds.ts';
import { pageQuerySchema, pageSchema, severitySchema, timestampSchema, uuidSchema } from './common.ts';

/** What an operator may know of a channel: never its address or its secrets. */
export const notificationChannelSchema = z
  .object({
    name: z.string(),
    type: z.enum(['webhook', 'slack', 'email']),
    /** Kinds of events it is told, or `all`. */
    events: z.union([z.literal('all'), z.array(z.enum(EVENT_KINDS))]),
    /** Null: of every chain. */
    chains: z.array(z.string()).nullable(),
    min_severity: severitySchema,
    max_per_minute: z.number().int().nullable(),
    /** False: the reconciler's configuration no longer names it, so nothing is sent. */
    configured: z.boolean(),
    /** Since when its receiver takes nothing; null: it does. */
    failing_since: timestampSchema.nullable(),
    last_error: z.string().nullable(),
    next_attempt_at: timestampSchema.nullable(),
    last_delivered_at: timestampSchema.nullable(),
    /** Events it will be told, among the next 1000 of the history. */
    waiting: z.number().int(),
    dead_letters: z.number().int(),
  })
  .meta({ id: 'NotificationChannel' });
export type NotificationChannelView = z.infer<typeof notificationChannelSchema>;
export const notificationChannelListSchema = z.object({ items: z.array(notificationChannelSchema) });

export const DELIVERY_STATUSES = ['due', 'delivered', 'dead'] as const;

/** A message beside the line: a test, or one that was given up. */
export const notificationDeliverySchema = z
  .object({
    id: uuidSchema,
    channel: z.string(),
    /** The event it tells; null: it is a test. */
    event_seq: z.number().int().nullable(),
    event_kind: z.enum(EVENT_KINDS).nullable(),
    rollout_id: uuidSchema.nullable(),
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.number().int(),
    last_error: z.string().nullable(),
    ordered_by: z.string().nullable(),
    created_at: timestampSchema,
    ended_at: timestampSchema.nullable(),
  })
  .meta({ id: 'NotificationDelivery' });
export type NotificationDeliveryView = z.infer<typeof notificationDeliverySchema>;

export const deliveryListQuerySchema = pageQuerySchema.extend({
  channel: z.string().max(50).optional(),
  status: z.enum(DELIVERY_STATUSES).optional(),
});
export const deliveryPageSchema = pageSchema(notificationDeliverySchema);

export const channelParamsSchema = z.object({ name: z.string().max(50) });
/** How many dead letters will be sent once more. */
export const resendAnswerSchema = z.object({ due: z.number().int() }).meta({ id: 'ResendAnswer' });
export type ResendAnswer = z.infer<typeof resendAnswerSchema>;
