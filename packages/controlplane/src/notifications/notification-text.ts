import type { EventView } from '@hoodcloud/contracts/http/events';
import type { NotificationMessage } from './notification-message.ts';

/** Lines of a summary that name an event by itself; the rest is counted. */
const SUMMARY_LINES = 20;
const WEIGHT = { info: 0, warning: 1, critical: 2 } as const;

export interface NotificationText {
  /** One line. */
  readonly subject: string;
  /** Plain text for people. */
  readonly body: string;
}

/** A message in words, for channels to people. */
export function notificationText(message: NotificationMessage): NotificationText {
  switch (message.kind) {
    case 'event':
      return eventText(message.event);
    case 'summary':
      return summaryText(message.events);
    case 'test':
      return {
        subject: 'hoodcloud: test message',
        body: `This is a test, ordered by ${message.orderedBy} at ${message.orderedAt}. Notifications of this channel arrive here.`,
      };
  }
}

function eventText(event: EventView): NotificationText {
  const facts = [
    event.reason?.sentence,
    typeof event.data.summary === 'string' ? event.data.summary : undefined,
    event.rollout_id ? `Look: hoodctl rollout status ${event.rollout_id}` : undefined,
    event.subject_type === 'incident' ? `Incident: hoodctl incident show ${event.subject_id}` : undefined,
    `${event.occurred_at}, by ${event.actor}`,
  ];
  return { subject: `hoodcloud: ${headline(event)}`, body: facts.filter((fact) => fact).join('\n') };
}

function summaryText(events: readonly EventView[]): NotificationText {
  const worst = events.toSorted((a, b) => WEIGHT[b.severity] - WEIGHT[a.severity] || a.seq - b.seq);
  const lines = worst.slice(0, SUMMARY_LINES).map((event) => {
    const why = event.reason ? `: ${event.reason.sentence}` : '';
    return `- ${event.severity === 'info' ? '' : `[${event.severity}] `}${headline(event)}${why}`;
  });
  const more = events.length - lines.length;
  return {
    subject: `hoodcloud: ${events.length} events at once`,
    body: [
      'More happened than this channel may send one by one:',
      countsOf(events),
      ...lines,
      ...(more > 0 ? [`… and ${more} more: hoodctl has them all.`] : []),
    ].join('\n'),
  };
}

/** "3 rollout started, 1 incident opened" */
function countsOf(events: readonly EventView[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of events) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${count} ${words(kind)}`).join(', ');
}

/** "testchain: rollout 1b2c3d4e paused" */
function headline(event: EventView): string {
  const chain = event.chain_profile_id ? `${event.chain_profile_id}: ` : '';
  const about = event.node_name ?? (event.rollout_id ? `rollout ${event.rollout_id.slice(0, 8)}` : '');
  const what = words(event.kind);
  return about === '' ? `${chain}${what}` : `${chain}${what} (${about})`;
}

function words(kind: string): string {
  return kind.replaceAll('_', ' ');
}
