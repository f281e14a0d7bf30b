import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import type { ComponentReportSchema, HeartbeatSchema, Welcome } from '@hoodcloud/contracts/wire/agent-v1';
import type { Logger } from 'pino';
import { type ReportedComponent, reportOn, reportOnTrouble } from './component-report.ts';

/** Used when the gateway gives none. */
const DEFAULT_INTERVAL_MS = 10_000;

export interface HeartbeatOptions {
  readonly components: readonly ReportedComponent[];
  readonly configPathsOf: (binaryName: string) => readonly string[];
  readonly log: Logger;
}

/** Measures the components, at the session's interval, and has the report sent. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #session: AbortController | null = null;
  #wanted: ReadonlyMap<string, readonly string[]> = new Map();

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Every component as it is now; for the hello and for each beat. */
  async reports(): Promise<MessageInitShape<typeof ComponentReportSchema>[]> {
    return Promise.all(this.#options.components.map((component) => this.#report(component)));
  }

  /** Beats for a session until `end()`; the first time at once, so that a new session knows its node. */
  begin(welcome: Welcome, send: (heartbeat: MessageInitShape<typeof HeartbeatSchema>) => void): void {
    this.end();
    this.#wanted = new Map(welcome.metricsWanted.map(({ binaryName, metricNames }) => [binaryName, metricNames]));
    const session = new AbortController();
    this.#session = session;
    const intervalMs = welcome.heartbeatIntervalMs || DEFAULT_INTERVAL_MS;
    void this.#beat(intervalMs, session.signal, send);
  }

  end(): void {
    this.#session?.abort();
    this.#session = null;
  }

  async #beat(
    intervalMs: number,
    signal: AbortSignal,
    send: (heartbeat: MessageInitShape<typeof HeartbeatSchema>) => void,
  ): Promise<void> {
    while (!signal.aborted) {
      const began = performance.now();
      const sentAt = timestampNow();
      const components = await this.reports();
      if (signal.aborted) return;
      send({ sentAt, components });
      const rest = Math.max(intervalMs / 10, intervalMs - (performance.now() - began));
      await sleep(rest, undefined, { signal }).catch(() => undefined); // only the signal ends it early
    }
  }

  async #report(component: ReportedComponent): Promise<MessageInitShape<typeof ComponentReportSchema>> {
    const { binaryName } = component;
    try {
      return await reportOn(component, this.#wanted.get(binaryName) ?? [], this.#options.configPathsOf(binaryName));
    } catch (error) {
      this.#options.log.warn({ err: error, component: binaryName }, 'a component could not be looked at');
      return reportOnTrouble(component, error);
    }
  }
}
