import type { Database } from '../db/database.ts';
import type { Logger } from '../feature.ts';
import { countOpenSessions } from './agent-session-store.ts';
import { reconnectWindowMs } from './reconnect-window.ts';

/** How many agents there are, counted now and then, for the window in which lost ones come back (B6). */
export class FleetSize {
  readonly #db: Database;
  readonly #log: Logger;
  #agents = 0;

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /** Never forgets the fleet it knew at once: right after a restart few are connected, and all are about to be. */
  async refresh(): Promise<void> {
    try {
      const counted = await countOpenSessions(this.#db);
      this.#agents = Math.max(counted, Math.floor(this.#agents * 0.9));
    } catch (error) {
      this.#log.warn({ err: error }, 'the connected agents could not be counted');
    }
  }

  reconnectWindowMs(): number {
    return reconnectWindowMs(this.#agents);
  }
}
