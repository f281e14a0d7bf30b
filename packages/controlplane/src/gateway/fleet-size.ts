import type { Database } from '../db/database.ts';
import type { Logger } from '../feature.ts';
import { countAgents } from './agent-session-store.ts';
import { reconnectWindowMs } from './reconnect-window.ts';

/**
 * How many agents there are, counted now and then, for the window in which lost ones come back (B6). Those that are not
 * connected count too: right after a restart few are, and all are about to be.
 */
export class FleetSize {
  readonly #db: Database;
  readonly #log: Logger;
  #agents = 0;

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  async refresh(): Promise<void> {
    try {
      this.#agents = await countAgents(this.#db);
    } catch (error) {
      this.#log.warn({ err: error }, 'the agents could not be counted');
    }
  }

  reconnectWindowMs(): number {
    return reconnectWindowMs(this.#agents);
  }
}
