import { createHash } from 'node:crypto';
import pg from 'pg';
import { Notifications } from './db/notifications.ts';
import type { Logger, Reconciler } from './feature.ts';
import { countReconcilerRun } from './telemetry/reconciler-metrics.ts';

const ERROR_BACKOFF_MS = { first: 500, most: 30_000 };

export interface ReconcilerRunnerOptions {
  readonly databaseUrl: string;
  readonly log: Logger;
  readonly reconcilers: readonly Reconciler[];
}

/**
 * Runs loops until it is stopped. A `leader` loop runs on one instance at a time, by an advisory lock on the runner's own
 * connection; when that connection breaks, the lock is gone and so is the lead. An error is logged, counted and backed
 * off from; it never ends a loop.
 */
export class ReconcilerRunner {
  readonly #options: ReconcilerRunnerOptions;
  readonly #loops: Loop[];
  readonly #leadership: Leadership;
  #notifications: Notifications | undefined;
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: ReconcilerRunnerOptions) {
    this.#options = options;
    this.#leadership = new Leadership(options.databaseUrl, options.log);
    this.#loops = options.reconcilers.map((reconciler) => new Loop(reconciler, options.log, this.#leadership));
  }

  async start(): Promise<void> {
    const { databaseUrl, log } = this.#options;
    this.#notifications = await Notifications.open(databaseUrl, (error) =>
      log.warn({ err: error }, 'the connection that hears of news was lost; it is made again'),
    );
    for (const loop of this.#loops) {
      if (loop.wokenBy !== null) await this.#notifications.listen(loop.wokenBy, () => loop.wake());
    }
    this.#running = Promise.all(this.#loops.map((loop) => loop.run()));
  }

  /** Lets the runs under way end, then gives up the lead. */
  async stop(): Promise<void> {
    for (const loop of this.#loops) loop.stop();
    await this.#running;
    await this.#notifications?.close();
    await this.#leadership.close();
  }
}

class Loop {
  readonly #reconciler: Reconciler;
  readonly #log: Logger;
  readonly #leadership: Leadership;
  #stopped = false;
  #woken = false;
  #wakeUp: (() => void) | undefined;
  #failures = 0;

  constructor(reconciler: Reconciler, log: Logger, leadership: Leadership) {
    this.#reconciler = reconciler;
    this.#log = log;
    this.#leadership = leadership;
  }

  get wokenBy(): string | null {
    return this.#reconciler.wokenBy;
  }

  wake(): void {
    this.#woken = true;
    this.#wakeUp?.();
  }

  stop(): void {
    this.#stopped = true;
    this.#wakeUp?.();
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      this.#woken = false;
      const pauseMs = await this.#runOnce();
      if (pauseMs > 0 && !this.#woken) await this.#sleep(pauseMs);
    }
  }

  /** @returns how long to sleep unless woken; 0 runs again at once */
  async #runOnce(): Promise<number> {
    const { name, runs, intervalMs } = this.#reconciler;
    const started = Date.now();
    try {
      if (runs === 'leader' && !(await this.#leadership.holds(name))) return intervalMs;
      const did = await this.#reconciler.run(new Date());
      this.#failures = 0;
      countReconcilerRun(name, 'ok', did, Date.now() - started);
      if (did === 0) return intervalMs;
      this.#log.info({ reconciler: name, did, ms: Date.now() - started }, `${name} did ${did}`);
      return 0;
    } catch (error) {
      this.#failures += 1;
      countReconcilerRun(name, 'error', 0, Date.now() - started);
      const pauseMs = Math.min(ERROR_BACKOFF_MS.first * 2 ** (this.#failures - 1), ERROR_BACKOFF_MS.most);
      this.#log.error(
        { err: error, reconciler: name, failures: this.#failures, pauseMs },
        `${name} failed; it tries again`,
      );
      await this.#sleep(pauseMs, { evenIfWoken: true });
      return 0;
    }
  }

  async #sleep(ms: number, options: { evenIfWoken?: boolean } = {}): Promise<void> {
    if (this.#stopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wakeUp = () => {
        if (options.evenIfWoken && !this.#stopped) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wakeUp = undefined;
  }
}

/** Advisory locks, one a loop, all on one connection of its own. */
class Leadership {
  readonly #databaseUrl: string;
  readonly #log: Logger;
  readonly #held = new Set<string>();
  #client: Promise<pg.Client> | null = null;
  /** The connection that counts: an earlier one may tell of its end when this one is made already. */
  #current: pg.Client | null = null;
  /** The connection answers one question at a time. */
  #asked: Promise<unknown> = Promise.resolve();

  constructor(databaseUrl: string, log: Logger) {
    this.#databaseUrl = databaseUrl;
    this.#log = log;
  }

  /** Whether this instance leads the loop; takes the lead when nobody has it. */
  async holds(name: string): Promise<boolean> {
    if (this.#held.has(name)) return true;
    const asking = this.#asked.then(
      () => this.#tryToLead(name),
      () => this.#tryToLead(name),
    );
    this.#asked = asking;
    return asking;
  }

  async #tryToLead(name: string): Promise<boolean> {
    const client = await this.#connected();
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      lockKey(name),
    ]);
    if (rows[0]?.locked !== true) return false;
    this.#held.add(name);
    this.#log.info({ reconciler: name }, `${name} is led by this instance`);
    return true;
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    this.#current = null;
    this.#held.clear();
    await (await client)?.end();
  }

  async #connected(): Promise<pg.Client> {
    this.#client ??= this.#connect();
    try {
      return await this.#client;
    } catch (error) {
      this.#client = null;
      throw error;
    }
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#databaseUrl,
      application_name: 'hoodcloud leader',
      keepAlive: true,
    });
    this.#current = client;
    const lost = (error: Error) => {
      if (this.#current !== client) return;
      this.#current = null;
      this.#client = null;
      this.#held.clear();
      client.end().catch(() => undefined); // half broken it would keep the locks; wholly broken it can't be ended
      this.#log.warn({ err: error }, 'the connection that holds the lead was lost');
    };
    client.on('error', lost);
    client.on('end', () => lost(new Error('the connection was closed')));
    await client.connect();
    return client;
  }
}

/** A number for the advisory lock that only this loop uses. */
function lockKey(name: string): string {
  return createHash('sha256').update(`hoodcloud reconciler ${name}`).digest().readBigInt64BE(0).toString();
}
