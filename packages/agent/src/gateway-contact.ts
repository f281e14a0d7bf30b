import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { errnoOf } from './agent-error.ts';
import { replaceFile } from './host/atomic-file.ts';

/** How the host and its control plane stood when the agent last wrote it down. */
export interface Contact {
  readonly connected: boolean;
  /** RFC 3339, the host's clock; null: never. */
  readonly last_contact_at: string | null;
  /** Why there is no connection; empty while there is one. */
  readonly reason: string;
}

/** While it is connected, the agent writes so often that it still is. */
const WRITE_INTERVAL_MS = 60_000;
const NAME = 'contact.json';

/** Null when no agent of this state_dir ever tried, or what it wrote can't be read: nothing depends on it. */
export async function readContact(stateDir: string): Promise<Contact | null> {
  try {
    const contact = JSON.parse(await readFile(join(stateDir, NAME), 'utf8')) as Contact;
    return typeof contact.connected === 'boolean' ? contact : null;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Writes down when the control plane was last heard of, for people on the host while it is away. */
export class ContactLog {
  readonly #stateDir: string;
  readonly #log: Logger;
  readonly #now: () => number;
  #lastContactAt: string | null = null;
  #writtenAtMs = 0;
  #writing: Promise<void> = Promise.resolve();

  private constructor(stateDir: string, log: Logger, now: () => number) {
    this.#stateDir = stateDir;
    this.#log = log;
    this.#now = now;
  }

  static async open(stateDir: string, log: Logger, now: () => number): Promise<ContactLog> {
    const opened = new ContactLog(stateDir, log, now);
    opened.#lastContactAt = (await readContact(stateDir))?.last_contact_at ?? null;
    return opened;
  }

  /** The gateway welcomed us, or takes what we send. */
  connected(): void {
    const wasWritten = this.#now() - this.#writtenAtMs < WRITE_INTERVAL_MS;
    this.#lastContactAt = new Date(this.#now()).toISOString();
    if (!wasWritten) this.#write(true, '');
  }

  away(reason: string): void {
    this.#write(false, reason);
    this.#writtenAtMs = 0; // the next welcome is news
  }

  /** Resolves when all of it is written. */
  settled(): Promise<void> {
    return this.#writing;
  }

  #write(connected: boolean, reason: string): void {
    this.#writtenAtMs = this.#now();
    const contact: Contact = { connected, last_contact_at: this.#lastContactAt, reason };
    this.#writing = this.#writing
      .then(() => replaceFile(join(this.#stateDir, NAME), `${JSON.stringify(contact)}\n`))
      .catch((error: unknown) => this.#log.warn({ err: error }, 'the last contact could not be written down'));
  }
}
