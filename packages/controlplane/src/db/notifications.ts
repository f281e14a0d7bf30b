import pg from 'pg';

/** Called with the payload, or with null when anything may have been missed (after a reconnect). */
export type NotificationListener = (payload: string | null) => void;

const RECONNECT_MS = 500;

/**
 * NOTIFY on a connection of its own. A lost connection is made again by itself, and then every listener is woken, since
 * what was sent in between is gone: a listener must look at rows, never rely on the message alone.
 */
export class Notifications {
  readonly #connectionString: string;
  readonly #onError: (error: Error) => void;
  readonly #listeners = new Map<string, Set<NotificationListener>>();
  #client: pg.Client | null = null;
  #retry: NodeJS.Timeout | null = null;
  #closed = false;

  private constructor(connectionString: string, onError: (error: Error) => void) {
    this.#connectionString = connectionString;
    this.#onError = onError;
  }

  /** Connects; a database that is down at first is tried again like one that is lost later. */
  static async open(connectionString: string, onError: (error: Error) => void): Promise<Notifications> {
    const notifications = new Notifications(connectionString, onError);
    await notifications.#connect();
    return notifications;
  }

  /** @returns takes the listener away again */
  async listen(channel: string, listener: NotificationListener): Promise<() => void> {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    if (listeners.size === 1) await this.#subscribe(channel);
    return () => {
      listeners.delete(listener);
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#retry) clearTimeout(this.#retry);
    const client = this.#client;
    this.#client = null;
    await client?.end();
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#connectionString,
      application_name: 'hoodcloud listen',
      keepAlive: true,
    });
    client.on('error', (error) => this.#lost(client, error));
    client.on('end', () => this.#lost(client, new Error('the LISTEN connection was closed')));
    client.on('notification', ({ channel, payload }) => this.#wake(channel, payload ?? ''));
    this.#client = client;
    try {
      await client.connect();
      for (const channel of this.#listeners.keys()) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      this.#lost(client, error instanceof Error ? error : new Error(String(error)));
      return;
    }
    for (const channel of this.#listeners.keys()) this.#wake(channel, null);
  }

  async #subscribe(channel: string): Promise<void> {
    const client = this.#client;
    if (!client) return; // the next connection listens to every channel there is
    try {
      await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      this.#lost(client, error instanceof Error ? error : new Error(String(error)));
    }
  }

  #lost(client: pg.Client, error: Error): void {
    if (this.#closed || this.#client !== client) return;
    this.#client = null;
    this.#onError(error);
    // the broken client may still hold a socket; how its end goes changes nothing
    client.end().catch((endError: Error) => this.#onError(endError));
    this.#retry = setTimeout(() => this.#connect(), RECONNECT_MS);
  }

  #wake(channel: string, payload: string | null): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener(payload);
  }
}
