import type { ReasonView } from '@hoodcloud/contracts/http/common';
import { attemptId, COMMAND_STATUSES } from '@hoodcloud/domain/agent-operation';
import type { Reason } from '@hoodcloud/domain/reasons';
import { wantsAttempt } from '@hoodcloud/domain/rollout-rows';
import type { AttemptFacts, CommandFacts } from '@hoodcloud/domain/why/attempt-why';
import { whyNodeWaits } from '@hoodcloud/domain/why/node-why';
import { type RolloutWhy, whyRolloutWaits } from '@hoodcloud/domain/why/rollout-why';
import type { Db } from '../db/database.ts';
import { reasonView, storedReason, storedReasons } from '../http/reason-view.ts';
import { isOnline } from '../nodes/liveness.ts';
import { type ChainLimits, loadRolloutSnapshot } from './load-rollout-snapshot.ts';
import { nameNodesIn } from './name-nodes.ts';
import { nodeFacts } from './rollout-facts.ts';
import type { RolloutNodeRow } from './rollout-node-read-model.ts';
import { type UsualSteps, usualSteps } from './usual-steps.ts';

export interface RowsToExplain {
  readonly rolloutId: string;
  readonly rows: readonly RolloutNodeRow[];
  readonly now: Date;
}

/**
 * Why each node of a page is where it is, by node id. However many nodes there are, it takes one snapshot, one look at
 * earlier runs and one at the names: the snapshot only when a node has not begun, the look only when an agent is at a step.
 */
export async function whyOfNodes(db: Db, chains: ChainLimits, page: RowsToExplain): Promise<Map<string, ReasonView[]>> {
  const { rolloutId, rows, now } = page;
  const notBegun = rows.some((row) => wantsAttempt(nodeFacts(row)));
  const rollout = notBegun ? await askRollout(db, chains, page) : null;
  const atStep = rows.some(({ command_status: status }) => status === 'acknowledged');
  const steps: UsualSteps = atStep ? await usualSteps(db, rolloutId) : new Map();
  const answers = rows.map((row) => {
    const agent = { online: isOnline(row.last_heartbeat_at, now), lastHeartbeatAt: millis(row.last_heartbeat_at) };
    const usual = (action: string) => steps.get(`${row.operation} ${action}`) ?? null;
    return whyNodeWaits(nodeFacts(row), { attempt: attemptFacts(row), agent, usual }, () => {
      if (rollout === null) throw new Error(`rollout ${rolloutId} was not asked why its nodes wait`);
      return rollout;
    });
  });
  const named = await nameNodesIn(db, answers.flat());
  const found = new Map<string, ReasonView[]>();
  let at = 0;
  for (const [index, { node_id }] of rows.entries()) {
    const count = answers[index]?.length ?? 0;
    found.set(node_id, named.slice(at, at + count).map(reasonView));
    at += count;
  }
  return found;
}

async function askRollout(db: Db, chains: ChainLimits, { rolloutId, rows, now }: RowsToExplain): Promise<RolloutWhy> {
  const snapshot = await loadRolloutSnapshot(db, rolloutId, chains, now, { asked: rows.map((row) => row.node_id) });
  if (!snapshot) throw new Error(`rollout ${rolloutId} vanished while its nodes were read`);
  return whyRolloutWaits(snapshot, await toldReason(db, rolloutId), now.getTime());
}

function millis(time: Date | null): number | null {
  return time?.getTime() ?? null;
}

/** The reason of the rollout's status as it was told. */
async function toldReason(db: Db, rolloutId: string): Promise<Reason | null> {
  const row = await db
    .selectFrom('rollouts')
    .select(['status_reason', 'status_reason_params'])
    .where('id', '=', rolloutId)
    .executeTakeFirst();
  return row ? storedReason(row.status_reason, row.status_reason_params) : null;
}

/** Command and proof count only when they are of the attempt that the row is about. */
function attemptFacts(row: RolloutNodeRow): AttemptFacts {
  const attempt = attemptId(row.rollout_id, row.node_id, row.attempt_count);
  return {
    nodeId: row.node_id,
    command: row.command_attempt_id === attempt ? commandFacts(row) : null,
    health: row.health_attempt_id === attempt ? storedReasons(row.health_reasons) : [],
    statusReason: storedReason(row.status_reason, row.status_reason_params),
  };
}

function commandFacts(row: RolloutNodeRow): CommandFacts | null {
  const { operation, command_created_at: createdAt, deadline_at: deadlineAt } = row;
  const status = COMMAND_STATUSES.find((known) => known === row.command_status);
  if (operation === null || status === undefined || createdAt === null || deadlineAt === null) return null;
  const stepSince = row.action_since ?? row.progress_at ?? row.acknowledged_at ?? createdAt;
  return {
    operation,
    status,
    createdAt: createdAt.getTime(),
    deliveredAt: millis(row.delivered_at),
    acknowledgedAt: millis(row.acknowledged_at),
    deadlineAt: deadlineAt.getTime(),
    step:
      row.action_name === null
        ? null
        : {
            action: row.action_name,
            since: stepSince.getTime(),
            progressPct: row.progress_pct,
            note: row.progress_note,
          },
  };
}
