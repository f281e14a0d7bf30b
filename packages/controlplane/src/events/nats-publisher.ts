import { eventMessage, messageIdOf } from '@hoodcloud/contracts/events/event-message';
import { subjectOf } from '@hoodcloud/contracts/events/event-subjects';
import type { EventView } from '@hoodcloud/contracts/http/events';
import type { NatsSettings } from '../config.ts';
import { linkToNats, type NatsLink } from './nats-connection.ts';

const ACKNOWLEDGE_MS = 5000;

/** Publishes events one after the other; each counts once JetStream has stored it. */
export class NatsPublisher {
  readonly #settings: NatsSettings;
  #link: NatsLink | null = null;

  constructor(settings: NatsSettings) {
    this.#settings = settings;
  }

  /** Connects unless connected. @throws when NATS can't be reached or the stream is not to be had */
  async connect(): Promise<void> {
    if (this.#link) return;
    const link = await linkToNats(this.#settings);
    this.#link = link;
    const forget = () => {
      if (this.#link === link) this.#link = null;
    };
    link.lost.then(forget, forget);
  }

  /** @throws when JetStream did not say that it has stored the event; then it may have it or not, and gets it again by the same id */
  async publish(event: EventView): Promise<void> {
    await this.connect();
    const link = this.#link;
    if (!link) throw new Error('the connection to NATS was lost');
    try {
      await link.stream.publish(subjectOf(event.kind, event.subject_id), JSON.stringify(eventMessage(event)), {
        msgID: messageIdOf(event),
        timeout: ACKNOWLEDGE_MS,
      });
    } catch (error) {
      // the next try begins with a new connection, which looks for the stream too
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const link = this.#link;
    this.#link = null;
    await link?.close();
  }
}
