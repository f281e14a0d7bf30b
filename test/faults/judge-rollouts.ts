import type { Database } from '@hoodcloud/controlplane/db/database';
import type { Fleet } from './fleet.ts';

export interface Judged {
  readonly rollouts: number;
  readonly nodes: number;
  /** UPGRADE commands that were written; one a node. */
  readonly commands: number;
  /** Upgrades that agents did; one a node. */
  readonly upgrades: number;
}

/** @throws Error naming what is wrong: a rollout or node that did not end right, a node commanded or upgraded twice */
export async function judgeRollouts(db: Database, fleet: Fleet, ids: readonly string[]): Promise<Judged> {
  const rollouts = await db.selectFrom('rollouts').select(['id', 'status']).where('id', 'in', ids).execute();
  const wrong = rollouts.filter(({ status }) => status !== 'completed');
  if (wrong.length > 0) throw new Error(`these did not complete: ${JSON.stringify(wrong)}`);
  const rows = await db.selectFrom('rollout_nodes').selectAll().where('rollout_id', 'in', ids).execute();
  const bad = rows.filter((row) => row.status !== 'succeeded' || row.attempt_count !== 1);
  if (bad.length > 0) throw new Error(`these nodes did not end right: ${JSON.stringify(bad)}`);
  const commands = await db
    .selectFrom('agent_commands')
    .select(['node_id', 'status'])
    .where('operation', '=', 'UPGRADE')
    .execute();
  const commanded = new Set(commands.map((command) => command.node_id));
  if (commanded.size !== commands.length || commands.length !== rows.length) {
    throw new Error(`${commands.length} commands for ${rows.length} nodes, ${commanded.size} of them commanded`);
  }
  const done = fleet.agents.flatMap((agent) => [...agent.done.values()]);
  const twice = done.filter(({ commandIds, times }) => commandIds.size !== 1 || times !== 1);
  if (twice.length > 0 || done.length !== rows.length) {
    throw new Error(`${done.length} upgrades of ${rows.length} nodes; twice: ${JSON.stringify(twice)}`);
  }
  return { rollouts: rollouts.length, nodes: rows.length, commands: commands.length, upgrades: done.length };
}
