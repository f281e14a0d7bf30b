import type { CommandProgress } from '@hoodcloud/contracts/wire/agent-v1';
import { canTransition } from '@hoodcloud/domain/transition';
import { UPGRADE_PHASE_TRANSITIONS, type UpgradePhase } from '@hoodcloud/domain/upgrade-phase';
import { MAX_STEP_NAME } from '@hoodcloud/domain/vendor-hook';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { appendEvent } from '../events/append-event.ts';
import type { Logger } from '../feature.ts';
import { storableJson, storableText } from './storable-json.ts';

/** Phases an agent may report; the others tell what the control plane finds out (validation, the end). */
const AGENT_PHASES: readonly UpgradePhase[] = ['PREPARING', 'STOPPED', 'MUTATING', 'STARTING', 'ROLLBACKING'];

/**
 * Whether the table leads from one phase to the other, if need be over phases in between: a stream that was cut may have
 * swallowed one, but no attempt ever goes back.
 */
export function isLaterPhase(from: UpgradePhase, to: UpgradePhase): boolean {
  if (canTransition(UPGRADE_PHASE_TRANSITIONS, from, to)) return true;
  return UPGRADE_PHASE_TRANSITIONS[from].some((next) => isLaterPhase(next, to));
}

interface Pending {
  readonly nodeId: string;
  latest: CommandProgress;
  /** Phases in the order they came, each once in a row, with the action that began it. */
  readonly phases: { readonly phase: UpgradePhase; readonly actionName: string }[];
}

/** Gathers progress and writes the newest of each command in one statement a tick (B4a). */
export class ProgressBuffer {
  readonly #db: Database;
  readonly #log: Logger;
  #pending = new Map<string, Pending>();

  constructor(db: Database, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  add(nodeId: string, progress: CommandProgress): void {
    const pending = this.#pending.get(progress.commandId) ?? { nodeId, latest: progress, phases: [] };
    pending.latest = progress;
    const phase = AGENT_PHASES.find((one) => one === progress.phase);
    if (phase && pending.phases.at(-1)?.phase !== phase) {
      pending.phases.push({ phase, actionName: progress.actionName });
    }
    this.#pending.set(progress.commandId, pending);
  }

  has(commandId: string): boolean {
    return this.#pending.has(commandId);
  }

  /** Writes what was gathered. Progress is for people: when the database is away it is dropped, the next one tells more. */
  async flush(): Promise<void> {
    if (this.#pending.size === 0) return;
    const batch = this.#pending;
    this.#pending = new Map();
    try {
      await this.#db.transaction().execute(async (tx) => {
        const written = await writeProgress(tx, batch);
        for (const command of written) {
          for (const { phase, actionName } of batch.get(command.id)?.phases ?? []) {
            await this.#enterPhase(tx, command, phase, actionName);
          }
        }
      });
    } catch (error) {
      this.#log.warn({ err: error, commands: batch.size }, 'progress could not be stored');
    }
  }

  async #enterPhase(tx: Db, command: OpenCommand, phase: UpgradePhase, actionName: string): Promise<void> {
    const row = await tx
      .selectFrom('rollout_nodes')
      .select('upgrade_phase')
      .where('id', '=', command.rolloutNodeId)
      .where('status', 'in', ['in_progress', 'validating'])
      .forUpdate()
      .executeTakeFirst();
    const before = row?.upgrade_phase ?? null;
    if (!row || before === phase) return;
    if (before !== null && !isLaterPhase(before, phase)) {
      this.#log.warn({ command_id: command.id, from: before, to: phase }, 'a phase that can not follow was ignored');
      return;
    }
    await tx
      .updateTable('rollout_nodes')
      .set({ upgrade_phase: phase, phase_changed_at: sql<Date>`clock_timestamp()`, updated_at: sql<Date>`now()` })
      .where('id', '=', command.rolloutNodeId)
      .execute();
    await appendEvent(tx, {
      kind: 'node_upgrade_phase_changed',
      subjectType: 'node',
      subjectId: command.nodeId,
      rolloutId: command.rolloutId,
      nodeId: command.nodeId,
      actor: 'system:gateway',
      data: {
        from: before,
        to: phase,
        phase,
        command_id: command.id,
        action_name: storableText(actionName, MAX_STEP_NAME),
      },
    });
  }
}

interface OpenCommand {
  readonly id: string;
  readonly nodeId: string;
  readonly rolloutId: string;
  readonly rolloutNodeId: string;
}

/** @returns the commands that are open and of the node that reported; others are not touched */
async function writeProgress(tx: Db, batch: ReadonlyMap<string, Pending>): Promise<OpenCommand[]> {
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
