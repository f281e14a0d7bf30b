import { eventMessage } from '@hoodcloud/contracts/events/event-message';
import type { WebhookConfig } from '@hoodcloud/contracts/files/notification-channels';
import type { NotificationChannel, NotificationMessage } from '../notification-message.ts';
import { guardedPost } from './guarded-post.ts';
import { signatureHeaders } from './webhook-signature.ts';

/** A program that gets every event, signed as Standard Webhooks has it. */
export function webhookChannel(config: WebhookConfig, key: Buffer): NotificationChannel {
  return {
    send: async (message) => {
      const body = JSON.stringify(webhookBody(message));
      // the time of this try: a receiver refuses what is minutes old, and a message may have waited for hours
      const timestamp = Math.floor(Date.now() / 1000);
      await guardedPost(config, body, signatureHeaders(key, message.id, timestamp, body));
    },
  };
}

function webhookBody(message: NotificationMessage) {
  switch (message.kind) {
    case 'event':
      return { type: message.event.kind, timestamp: message.event.occurred_at, data: eventMessage(message.event) };
    case 'test':
      return { type: 'test', timestamp: message.orderedAt, data: { ordered_by: message.orderedBy } };
    case 'summary':
      throw new Error('a webhook gets every event by itself');
  }
}
