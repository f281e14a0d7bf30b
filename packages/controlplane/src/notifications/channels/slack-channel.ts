import type { SlackConfig } from '@hoodcloud/contracts/files/notification-channels';
import type { NotificationChannel, NotificationMessage } from '../notification-message.ts';
import { notificationText } from '../notification-text.ts';
import { guardedPost } from './guarded-post.ts';

const MARKS = { info: ':information_source:', warning: ':warning:', critical: ':rotating_light:' } as const;
/** Slack cuts longer texts itself, in the middle of a word. */
const MAX_TEXT = 3000;

/** An incoming webhook as Slack, Mattermost, Rocket.Chat and Discord (`/slack`) take it: `{ "text": … }`. */
export function slackChannel(config: SlackConfig, url: string): NotificationChannel {
  const { allow_http, allow_private_addresses } = config;
  return {
    send: (message) =>
      guardedPost({ url, allow_http, allow_private_addresses }, JSON.stringify({ text: slackText(message) }), {}),
  };
}

function slackText(message: NotificationMessage): string {
  const { subject, body } = notificationText(message);
  const mark = message.kind === 'event' ? `${MARKS[message.event.severity]} ` : '';
  const text = `${mark}*${escaped(subject)}*\n${escaped(body)}`;
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}

/** Slack's three control characters; without it a node's name could mention a whole channel. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
