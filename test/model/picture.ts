import type { RolloutDecision } from '@hoodcloud/domain/rollout-decision';
import type { RolloutNodeFacts } from '@hoodcloud/domain/rollout-snapshot';
import { isEndedRollout } from '@hoodcloud/domain/rollout-status';
import type { RolloutWorld } from '@hoodcloud/domain/testing/rollout-world';

/** What model and reality must agree about; clock readings are left out. */
export interface Picture {
  readonly status: string;
  /** Of a pause or an end. */
  readonly why: string | null;
  readonly direction: string;
  /** By node: batch, status, attempts begun and wanted, direction. */
  readonly nodes: Readonly<Record<string, string>>;
}

const line = (row: RolloutNodeFacts) =>
  `batch ${row.batchIndex}: ${row.status}, attempt ${row.attemptCount} of ${row.requestedAttempt}, ${row.attemptDirection}`;

export function pictureOf({ rollout, rows }: Pick<RolloutWorld, 'rollout' | 'rows'>): Picture {
  const explained = rollout.status === 'paused' || isEndedRollout(rollout.status);
  return {
    status: rollout.status,
    why: explained ? rollout.statusReason : null,
    direction: rollout.direction,
    nodes: Object.fromEntries(rows.map((row) => [row.nodeId, line(row)])),
  };
}

/** A decision, or what was stored of it, without what passes by itself: an offer becomes an attempt without a question. */
export function toldDecision(decision: Pick<RolloutDecision, 'kind'> & object): string {
  const { reasons, reason } = decision as { reasons?: { code: string }[]; reason?: { code: string } };
  const codes = (reasons ?? (reason ? [reason] : [])).map(({ code }) =>
    code === 'nodes_offered' ? 'nodes_in_flight' : code,
  );
  return `${decision.kind} ${[...new Set(codes)].sort().join(' ')}`;
}
