import type { CommandProgress } from '@hoodcloud/contracts/wire/agent-v1';
import type { UpgradePhase } from '@hoodcloud/domain/upgrade-phase';
import { MAX_STEP_NAME } from '@hoodcloud/domain/vendor-hook';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { storableJson, storableText } from './storable-json.ts';

/** What an agent has told of a command since the last tick. */
export interface PendingProgress {
  readonly nodeId: string;
  latest: CommandProgress;
  /** Phases in the order they came, each once in a row, with the action that began it. */
  readonly phases: { readonly phase: UpgradePhase; readonly actionName: string }[];
}

/** Phases of those rows that are under way, locked in the order of their ids. @returns by id of the rollout's node */
export async function lockPhases(tx: Db, commands: readonly OpenCommand[]): Promise<Map<string, UpgradePhase | null>> {
  const rows = await tx
    .selectFrom('rollout_nodes')
    .select(['id', 'upgrade_phase'])
    .where(
      'id',
      'in',
      commands.map(({ rolloutNodeId }) => rolloutNodeId),
    )
    .where('status', 'in', ['in_progress', 'validating'])
    .orderBy('id')
    .forUpdate()
    .execute();
  return new Map(rows.map(({ id, upgrade_phase }) => [id, upgrade_phase]));
}

/** By id of the rollout's node. */
export async function writePhases(tx: Db, phases: ReadonlyMap<string, UpgradePhase>): Promise<void> {
  const rows = [...phases].map(([id, phase]) => ({ id, phase }));
  await sql`
    update rollout_nodes r
       set upgrade_phase = p.phase, phase_changed_at = clock_timestamp(), updated_at = now()
      from jsonb_to_recordset(${storableJson(rows)}::jsonb) as p(id uuid, phase text)
     where r.id = p.id`.execute(tx);
}

/** A command that may still tell of progress. */
export interface OpenCommand {
  readonly id: string;
  readonly nodeId: string;
  readonly rolloutId: string;
  readonly rolloutNodeId: string;
}

/** Writes the newest progress of each command. @returns the commands that are open and of the node that reported; others are not touched */
export async function writeProgress(tx: Db, batch: ReadonlyMap<string, PendingProgress>): Promise<OpenCommand[]> {
  const rows = [...batch].map(([id, { nodeId, latest }]) => ({
    id,
    node_id: nodeId,
    attempt_id: latest.attemptId,
    action_index: Math.min(latest.actionIndex, 1000),
    action_name: storableText(latest.actionName, MAX_STEP_NAME),
    progress_pct: Math.min(latest.progressPct, 100),
    progress_note: storableText(latest.note, 500),
  }));
  const result = await sql<OpenCommand>`
    update agent_commands c
       set action_index = p.action_index, action_name = p.action_name, progress_pct = p.progress_pct,
           progress_note = p.progress_note, progress_at = clock_timestamp(),
           action_since = case when c.action_name is distinct from p.action_name then clock_timestamp()
                          else c.action_since end
      from jsonb_to_recordset(${storableJson(rows)}::jsonb) as p(id uuid, node_id uuid, attempt_id text,
           action_index int, action_name text, progress_pct int, progress_note text)
     where c.id = p.id and c.node_id = p.node_id and c.attempt_id = p.attempt_id
       and c.status in ('pending', 'delivered', 'acknowledged')
    returning c.id, c.node_id as "nodeId", c.rollout_id as "rolloutId", c.rollout_node_id as "rolloutNodeId"`.execute(
    tx,
  );
  return result.rows;
}
