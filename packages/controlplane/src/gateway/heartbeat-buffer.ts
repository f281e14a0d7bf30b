import type { ComponentReport } from '@hoodcloud/contracts/wire/agent-v1';
import type { Database } from '../db/database.ts';
import type { Logger } from '../feature.ts';
import type { ChainJudges } from '../health/chain-judges.ts';
import { type ReceivedHeartbeat, storeHeartbeats } from '../health/heartbeat-ingest.ts';
import { countHeartbeats } from './gateway-metrics.ts';

/** Beyond so many the oldest are dropped: the database has been away for long, and newer ones say more. */
const MOST_WAITING = 50_000;

/** Called when a component is seen to run something for the first time on its stream (B2): it may need a name. */
export type ChecksumSeen = (nodeId: string, binaryName: string, runningChecksum: string) => Promise<void>;

export interface HeartbeatBufferOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly judges: ChainJudges;
  /** A heartbeat came on a session that another has superseded: its stream must end. */
  readonly onClosedSession: (nodeId: string, sessionId: string) => void;
}

/** Gathers the heartbeats of many agents and stores them by a few statements a tick. */
export class HeartbeatBuffer {
  readonly #options: HeartbeatBufferOptions;
  #waiting: ReceivedHeartbeat[] = [];
  #flushing: Promise<void> = Promise.resolve();

  constructor(options: HeartbeatBufferOptions) {
    this.#options = options;
  }

  add(heartbeat: ReceivedHeartbeat): void {
    this.#waiting.push(heartbeat);
  }

  hasOf(nodeId: string): boolean {
    return this.#waiting.some((heartbeat) => heartbeat.nodeId === nodeId);
  }

  /** Stores what has come; what can't be stored now is kept for the next tick. Flushes never overlap. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#flushOnce());
    return this.#flushing;
  }

  async #flushOnce(): Promise<void> {
    const batch = this.#waiting;
    if (batch.length === 0) return;
    this.#waiting = [];
    const { db, log, judges, onClosedSession } = this.#options;
    try {
      const accepted = await storeHeartbeats(db, judges, batch);
      const late = batch.filter(({ sessionId }) => !accepted.has(sessionId));
      for (const { nodeId, sessionId } of late) onClosedSession(nodeId, sessionId);
      countHeartbeats('stored', batch.length - late.length);
      countHeartbeats('session_over', late.length);
    } catch (error) {
      log.warn({ err: error, heartbeats: batch.length }, 'heartbeats could not be stored; the next tick tries again');
      this.#waiting = [...batch, ...this.#waiting].slice(-MOST_WAITING);
    }
  }
}

/** Tells of running checksums that are new on a stream. */
export class ChecksumWatch {
  readonly #seen = new Map<string, string>();

  /** Components whose running checksum differs from what this stream reported before. */
  news(components: readonly ComponentReport[]): ComponentReport[] {
    return components.filter(({ binaryName, runningChecksum }) => {
      if (!runningChecksum || this.#seen.get(binaryName) === runningChecksum) return false;
      this.#seen.set(binaryName, runningChecksum);
      return true;
    });
  }
}
