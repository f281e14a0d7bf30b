import { type CommandResult, Operation } from '@hoodcloud/contracts/wire/agent-v1';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { wakeRollout } from '../engine/engine-outbox.ts';

/**
 * A result that no command asked for: an agent that was armed swapped by itself, or its node stopped for another plan. The
 * rollout is woken; the UPGRADE that it sends is answered with the result once more (B2).
 * @returns whether it is of an armed node of ours
 */
export async function noteUnasked(tx: Db, nodeId: string, result: CommandResult): Promise<boolean> {
  const swapped = result.operation === Operation.UPGRADE;
  if (!swapped && result.operation !== Operation.STAGE) return false;
  const { rows } = await sql<{ rollout_id: string }>`
    update rollout_nodes
       set stage_state = ${swapped ? sql`'activated'` : sql`stage_state`},
           stage_error = ${result.errorMessage || null}, stage_changed_at = clock_timestamp(), updated_at = now()
     where node_id = ${nodeId} and status = 'pending' and stage_state in ('staged', 'armed')
       and rollout_id || '.' || node_id || '.' || (attempt_count + 1) = ${result.attemptId}
    returning rollout_id`.execute(tx);
  for (const { rollout_id } of rows) await wakeRollout(tx, rollout_id);
  return rows.length > 0;
}
