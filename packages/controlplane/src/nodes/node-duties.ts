import type { NodeDuty } from '@hoodcloud/domain/node-duty';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/**
 * What the latest heartbeat of each node says of its chain's duties, by node id. A duty that it was not judged by, because the
 * profile has it only now, or a node without a heartbeat: not known.
 */
export async function loadDuties(
  db: Db,
  names: readonly string[],
  nodeIds: readonly string[],
): Promise<Map<string, NodeDuty[]>> {
  if (names.length === 0 || nodeIds.length === 0) return new Map();
  const { rows } = await sql<{ id: string; duties: NodeDuty[] | null }>`
    select n.id, h.judged -> 'duties' as duties
      from unnest(${[...nodeIds]}::uuid[]) as n(id)
      left join lateral (select judged from node_heartbeats
                          where node_id = n.id order by received_at desc limit 1) as h on true`.execute(db);
  return new Map(rows.map(({ id, duties }) => [id, names.map((name) => dutyOf(duties ?? [], name))]));
}

function dutyOf(judged: readonly NodeDuty[], name: string): NodeDuty {
  return judged.find((duty) => duty.name === name) ?? { name, free: null, waitSeconds: null, missing: [] };
}
