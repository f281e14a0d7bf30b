import type { EmailConfig } from '@hoodcloud/contracts/files/notification-channels';
import { createTransport } from 'nodemailer';
import { DeliveryError, type NotificationChannel, type NotificationMessage } from '../notification-message.ts';
import { notificationText } from '../notification-text.ts';

const TIMEOUT_MS = 10_000;

/** Plain-text mail by SMTP; each message opens a connection of its own. */
export function emailChannel(config: EmailConfig, password: string | null): NotificationChannel {
  const { host, port, tls, user } = config.smtp;
  const transport = createTransport({
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    ...(user !== undefined && { auth: { user, pass: password ?? '' } }),
  });
  return {
    send: async (message) => {
      try {
        await transport.sendMail(mailOf(config, message));
      } catch (error) {
        throw refused(error);
      }
    },
  };
}

function mailOf({ from, to }: EmailConfig, message: NotificationMessage) {
  const { subject, body } = notificationText(message);
  const urgent = message.kind === 'event' && message.event.severity === 'critical';
  return {
    from,
    to: [...to],
    subject,
    text: `${body}\n`,
    messageId: `<${message.id}@hoodcloud>`,
    headers: { 'auto-submitted': 'auto-generated' },
    ...(urgent && { priority: 'high' as const }),
  };
}

/** A 5xx answer to sender, receivers or content refuses this very message; to the login it speaks of the configuration. */
function refused(error: unknown): DeliveryError {
  const { code, responseCode, message } = error as { code?: string; responseCode?: number; message?: string };
  const permanent = (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode !== undefined && responseCode >= 500;
  return new DeliveryError(`the mail server did not take it: ${message ?? String(error)}`, { permanent, cause: error });
}
