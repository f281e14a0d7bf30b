import { z } from 'zod';
import { type EventView, eventSchema } from '../http/events.ts';

/** Version of the payload. Fields may be added to it without a new number; one that changes or goes needs the next. */
export const EVENT_SCHEMA_VERSION = 1;

/** What NATS subscribers and webhooks get: the event as the API shows it, with the version of its shape. */
export const eventMessageSchema = z
  .object({ schema_version: z.literal(EVENT_SCHEMA_VERSION), ...eventSchema.shape })
  .meta({ id: 'EventMessage' });
export type EventMessage = z.infer<typeof eventMessageSchema>;

/** The event as it leaves the control plane. */
export function eventMessage(event: EventView): EventMessage {
  return { schema_version: EVENT_SCHEMA_VERSION, ...event };
}

/**
 * The id by which receivers know an event they had already: `Nats-Msg-Id` and `webhook-id`. The time is part of it, since a
 * database restored from a backup gives numbers a second time.
 */
export function messageIdOf({ seq, occurred_at }: Pick<EventView, 'seq' | 'occurred_at'>): string {
  return `evt_${seq}_${Date.parse(occurred_at)}`;
}
