import type { EventView } from '@hoodcloud/contracts/http/events';

/** What a channel brings to its receiver. `id` stays the same at every try, so that a receiver knows what it had already. */
export type NotificationMessage =
  | { readonly kind: 'event'; readonly id: string; readonly event: EventView }
  /** Many at once, in their order, for a channel to people whose limit they would pass. */
  | { readonly kind: 'summary'; readonly id: string; readonly events: readonly EventView[] }
  | { readonly kind: 'test'; readonly id: string; readonly orderedBy: string; readonly orderedAt: string };

/** One way to tell somebody, made from its configuration with its secrets read. */
export interface NotificationChannel {
  /** @throws DeliveryError when the receiver didn't take it */
  send(message: NotificationMessage): Promise<void>;
}

/** A receiver didn't take a message. The text is shown to operators, so it holds no secret and no address that is one. */
export class DeliveryError extends Error {
  readonly code = 'notification_not_delivered';
  /** The receiver refused this very message: sending it again is no use. */
  readonly permanent: boolean;
  /** The receiver asked to be left alone for so long. */
  readonly retryAfterMs: number | null;

  constructor(
    message: string,
    { permanent = false, retryAfterMs = null as number | null, cause = undefined as unknown } = {},
  ) {
    super(message, { cause });
    this.name = 'DeliveryError';
    this.permanent = permanent;
    this.retryAfterMs = retryAfterMs;
  }
}
