import type { OperationOutcome, StagingOperation } from '@hoodcloud/domain/agent-operation';
import type { StageGoal, StageState } from '@hoodcloud/domain/staging';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { wakeRollout } from '../engine/engine-outbox.ts';

const AT_ONCE = 500;
const NO_ANSWER = 'its agent did not answer before the deadline';

interface StagingResult {
  readonly id: string;
  readonly operation: StagingOperation;
  /** Null: the agent did not answer before the deadline. */
  readonly outcome: OperationOutcome | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly rolloutId: string;
  readonly rowId: string;
  readonly goal: StageGoal | null;
  readonly state: StageState | null;
  /** It is the last that the node was told. */
  readonly isLatest: boolean;
}

/** What a node's row says after a result; without a state it stays what it was, and the node is told again. */
interface Said {
  readonly state?: StageState;
  readonly error: string | null;
}

/** Writes what agents answered into the rows of their nodes, and wakes the rollouts that may wait for it. */
export async function takeStagingResults(db: Database): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const results = await untaken(tx);
    for (const result of results.filter(({ isLatest }) => isLatest)) await write(tx, result.rowId, saidBy(result));
    const ids = results.map(({ id }) => id);
    if (ids.length === 0) return 0;
    await tx.updateTable('agent_commands').set({ result_taken_at: new Date() }).where('id', 'in', ids).execute();
    for (const rolloutId of new Set(results.map((result) => result.rolloutId))) await wakeRollout(tx, rolloutId);
    return results.length;
  });
}

async function untaken(tx: Db): Promise<StagingResult[]> {
  const { rows } = await sql<StagingResult>`
    select c.id, c.operation, c.outcome, c.result ->> 'error_code' as "errorCode",
           c.result ->> 'error_message' as "errorMessage", c.rollout_id as "rolloutId", n.id as "rowId",
           n.stage_goal as goal, n.stage_state as state, n.stage_command_id is not distinct from c.id as "isLatest"
      from agent_commands c join rollout_nodes n on n.id = c.rollout_node_id
     where c.operation in ('STAGE', 'UNSTAGE') and c.ended_at is not null and c.result_taken_at is null
     order by c.ended_at
     limit ${AT_ONCE}
       for update of c, n skip locked`.execute(tx);
  return rows;
}

function saidBy({ operation, outcome, errorCode, errorMessage, goal, state }: StagingResult): Said {
  if (outcome === 'completed') {
    if (operation === 'UNSTAGE') return { state: 'unstaged', error: null };
    return { state: goal === 'armed' ? 'armed' : 'staged', error: null };
  }
  if (errorCode === 'already_begun') return { state: 'activated', error: null };
  if (outcome === null && (operation === 'UNSTAGE' || state === 'armed')) return { error: NO_ANSWER };
  if (operation === 'STAGE') return { state: 'not_ready', error: whyNotReady(outcome, errorCode, errorMessage) };
  // an agent that knows no staging has nothing staged; one whose attempt has begun has nothing to take back
  return { state: 'unstaged', error: errorMessage };
}

function whyNotReady(outcome: OperationOutcome | null, code: string | null, message: string | null): string {
  if (outcome === null) return NO_ANSWER;
  if (code === 'invalid_payload' && message?.includes('operation')) {
    return 'its agent is of a version that can not make ready ahead: upgrade the agent, or go without';
  }
  return message ?? 'its agent gave no reason';
}

async function write(tx: Db, rowId: string, { state, error }: Said): Promise<void> {
  await tx
    .updateTable('rollout_nodes')
    .set({
      ...(state && { stage_state: state }),
      stage_error: error,
      stage_changed_at: sql<Date>`clock_timestamp()`,
      updated_at: sql<Date>`now()`,
    })
    .where('id', '=', rowId)
    .execute();
}
