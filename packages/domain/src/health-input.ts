import type { ApplicationHealth, NodeState, SyncStatus } from './node-state.ts';
import type { ChainFacts } from './rollout-snapshot.ts';

/** One raw heartbeat of a component as the control plane judged it (D0a, D2). Times are epoch milliseconds. */
export interface HealthReading {
  /** Server receive time: the agent's clock is shown, never trusted (B6). */
  readonly receivedAt: number;
  readonly sessionId: string;
  /** The runtime calls the service active. */
  readonly active: boolean;
  readonly mainPid: number | null;
  readonly mainPidStartedAt: number | null;
  /** The runtime's own count of restarts; null when it has none. */
  readonly restarts: number | null;
  /** SHA-256 of the running executable or the image's digest; null when nothing runs. */
  readonly runningSha256: string | null;
  readonly applicationHealth: ApplicationHealth;
  readonly syncStatus: SyncStatus;
  readonly height: number | null;
  /** Whether `ready_expression` holds; null when the chain has none or its metrics are missing. */
  readonly ready: boolean | null;
}

/** How strict a validation is; a chain's files may give other numbers. Durations in milliseconds. */
export interface HealthPolicy {
  /** `health_wait_duration`: nothing is called healthy before it has passed. */
  readonly waitMs: number;
  /** How long after it evidence that is missing or doubtful may still come, before the node counts as failed. */
  readonly graceMs: number;
  /** Life signs of one and the same process over at least this time (D4c). */
  readonly minStableMs: number;
  /** More new restarts than this are a crash loop (D3). */
  readonly maxRestarts: number;
  /** No main process for this long is a crash (D3). */
  readonly noMainProcessMs: number;
  /** So many readings in a row must fail a criterion (D4). */
  readonly consecutive: number;
  /** A last reading older than this proves nothing about now. */
  readonly maxReadingAgeMs: number;
  /** The chain has a `healthy_expression`, so that unknown is no answer (D3). */
  readonly judgesApplication: boolean;
  /** The chain has a `synced_expression`. */
  readonly judgesSync: boolean;
  /** The chain has a `ready_expression` (D4b). */
  readonly judgesReady: boolean;
}

export const DEFAULT_HEALTH_POLICY: HealthPolicy = {
  waitMs: 60_000,
  graceMs: 30_000,
  minStableMs: 10_000,
  maxRestarts: 3,
  noMainProcessMs: 10_000,
  consecutive: 2,
  maxReadingAgeMs: 30_000,
  judgesApplication: false,
  judgesSync: false,
  judgesReady: false,
};

export interface HealthInput {
  /** Epoch milliseconds. */
  readonly now: number;
  /** When the command's result was written: only what came after counts (D1). */
  readonly commandEndedAt: number;
  /** The agent's current session; null when it has none, and then no reading counts. */
  readonly sessionId: string | null;
  /** SHA-256 or digest that must be running; null when only configs changed and none is known. */
  readonly expectedSha256: string | null;
  readonly nodeState: NodeState;
  /** The runtime's restart count when the command ended, so that restarts before the first reading count too. */
  readonly restartsAtStart?: number | null;
  /** Raw heartbeats of the component, in any order. */
  readonly readings: readonly HealthReading[];
  readonly chain: ChainFacts;
  readonly policy: HealthPolicy;
}
