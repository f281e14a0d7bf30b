import { messageIdOf } from '@hoodcloud/contracts/events/event-message';
import type { ChannelConfig } from '@hoodcloud/contracts/files/notification-channels';
import type { EventView } from '@hoodcloud/contracts/http/events';
import type { Database } from '../db/database.ts';
import { moveCursor, readCursor } from '../events/event-cursor.ts';
import { listEvents } from '../events/event-read-model.ts';
import { EVENTS_PUBLISHED } from '../events/event-relay.ts';
import type { Logger, Reconciler } from '../feature.ts';
import { wants } from './channel-filter.ts';
import {
  buryEvents,
  type ChannelState,
  cursorOf,
  noteDelivered,
  noteFailure,
  readChannelState,
} from './channel-store.ts';
import { DeliveryError, type NotificationChannel, type NotificationMessage } from './notification-message.ts';
import { countNotification } from './notification-metrics.ts';
import { sendOrdered } from './ordered-deliveries.ts';

/** Looked at so often; news wakes it at once. */
const INTERVAL_MS = 2000;
/** Events looked at in one run: a program's one by one, people's all, so that a summary tells of everything that waits. */
const PAGE = { webhook: 50, slack: 500, email: 500 } as const;
const FIRST_PAUSE_MS = 2000;
const MOST_PAUSE_MS = 300_000;

export interface DispatchParts {
  readonly db: Database;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * The line of one channel: events in their order, one message at a time, each until it is taken or given up. A loop of its
 * own for each channel, so that one that is down delays nothing but itself. At least once: who dies before noting that a
 * message was taken sends it again under the same id.
 */
export function channelDispatch(parts: DispatchParts, config: ChannelConfig, channel: NotificationChannel): Reconciler {
  return {
    name: `notify-${config.name}`,
    intervalMs: INTERVAL_MS,
    wokenBy: EVENTS_PUBLISHED,
    runs: 'leader',
    run: async () => {
      const ordered = await sendOrdered(parts.db, config.name, channel);
      const state = await readChannelState(parts.db, config.name);
      if (!state || state.resting) return ordered;
      return ordered + (await sendNext(parts, config, channel, state));
    },
  };
}

/** @returns how many events the line is past now; 0 when it has to wait */
async function sendNext(
  parts: DispatchParts,
  config: ChannelConfig,
  channel: NotificationChannel,
  state: ChannelState,
): Promise<number> {
  const { db } = parts;
  const left = (config.max_per_minute ?? Number.POSITIVE_INFINITY) - state.sentInMinute;
  if (left <= 0) return 0;
  const after = await readCursor(db, cursorOf(config.name));
  const { items } = await listEvents(db, { after, limit: PAGE[config.type] });
  const wanted = items.filter((event) => wants(config, event));
  if (wanted.length === 0) {
    const last = items.at(-1);
    if (last) await moveCursor(db, cursorOf(config.name), last.seq);
    return items.length;
  }
  for (const [sent, events] of messagesOf(config, wanted, left).entries()) {
    try {
      await channel.send(messageOf(events));
    } catch (error) {
      await handleFailure(parts, config, sent === 0 ? state.attempts : 0, events, error);
      return sent;
    }
    await noteDelivered(db, config.name, events.at(-1)?.seq ?? null);
    countNotification(config.name, 'delivered');
  }
  return wanted.length;
}

/** What is told in each message: one event, but to people the last message that a minute allows tells all the rest. */
function messagesOf(config: ChannelConfig, wanted: readonly EventView[], left: number): (readonly EventView[])[] {
  if (wanted.length <= left) return wanted.map((event) => [event]);
  if (config.type === 'webhook') return wanted.slice(0, left).map((event) => [event]);
  return [...wanted.slice(0, left - 1).map((event) => [event]), wanted.slice(left - 1)];
}

function messageOf(events: readonly EventView[]): NotificationMessage {
  const [first] = events;
  const last = events.at(-1);
  if (!first || !last) throw new Error('a message is about something');
  if (events.length === 1) return { kind: 'event', id: messageIdOf(first), event: first };
  return { kind: 'summary', id: `${messageIdOf(first)}_to_${last.seq}`, events };
}

async function handleFailure(
  { db, log }: DispatchParts,
  config: ChannelConfig,
  attemptsBefore: number,
  events: readonly EventView[],
  error: unknown,
): Promise<void> {
  if (!(error instanceof DeliveryError)) throw error;
  const attempts = attemptsBefore + 1;
  const pauseMs = error.retryAfterMs ?? pauseAfter(attempts);
  const seqs = events.map(({ seq }) => seq);
  const { name } = config;
  if (!error.permanent && attempts < config.max_attempts) {
    log.warn(
      { channel: name, attempts, pauseMs, seqs, reason: error.message },
      'a notification was not delivered; tried again',
    );
    countNotification(name, 'failed');
    await noteFailure(db, name, error.message, attempts, pauseMs);
    return;
  }
  log.warn(
    { channel: name, attempts, seqs, reason: error.message },
    'a notification was given up: hoodctl notification dead-letters',
  );
  countNotification(name, 'dead');
  // a refusal of one message says nothing against the next
  await buryEvents(db, name, seqs, { error: error.message, attempts, pauseMs: error.permanent ? 0 : pauseMs });
}

/** Doubling from 2 s to 5 min, and by a random part shorter, so that many channels of one receiver don't come at once. */
export function pauseAfter(attempts: number, random: () => number = Math.random): number {
  const cap = Math.min(MOST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempts - 1, 20));
  return Math.round(cap * (0.5 + random() / 2));
}
