import type { FleetSummary } from '@hoodcloud/contracts/http/nodes';
import { ZONE_LABEL } from '@hoodcloud/domain/plan-share';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { OFFLINE_AFTER_MS } from './liveness.ts';

interface CountRow {
  readonly by: 'all' | 'chain' | 'state' | 'zone';
  readonly value: string | null;
  readonly nodes: number;
  readonly online: number;
}

/** Counts the fleet, or one chain of it, in the database: two passes whatever its size. */
export async function fleetSummary(db: Db, chain?: string): Promise<FleetSummary> {
  const [counts, versions] = await Promise.all([countRows(db, chain), versionRows(db, chain)]);
  const all = counts.find(({ by }) => by === 'all');
  const of = (kind: CountRow['by']) => counts.filter(({ by }) => by === kind);
  return {
    nodes: all?.nodes ?? 0,
    online: all?.online ?? 0,
    chains: of('chain').map(({ value, nodes, online }) => ({ chain_profile_id: value ?? '', nodes, online })),
    states: of('state').map(({ value, nodes }) => ({ state: value as FleetSummary['states'][number]['state'], nodes })),
    zones: of('zone').map(({ value, nodes, online }) => ({ zone: value, nodes, online })),
    versions,
  };
}

async function countRows(db: Db, chain?: string): Promise<readonly CountRow[]> {
  const heardSince = new Date(Date.now() - OFFLINE_AFTER_MS);
  const { rows } = await sql<CountRow>`
    with fleet as (
      select chain_profile_id as chain, state::text as state, labels->>${ZONE_LABEL} as zone,
             coalesce(last_heartbeat_at > ${heardSince}, false) as online
        from nodes where ${chain ?? null}::text is null or chain_profile_id = ${chain ?? null}
    )
    select case grouping(chain, state, zone) when 3 then 'chain' when 5 then 'state' when 6 then 'zone' else 'all' end as by,
           coalesce(chain, state, zone) as value,
           count(*)::int as nodes, (count(*) filter (where online))::int as online
      from fleet
     group by grouping sets ((chain), (state), (zone), ())
     order by nodes desc, value`.execute(db);
  return rows;
}

async function versionRows(db: Db, chain?: string): Promise<FleetSummary['versions']> {
  const { rows } = await sql<FleetSummary['versions'][number]>`
    select n.chain_profile_id, c.binary_name, s.binary_version as version, count(*)::int as nodes
      from node_components c
      join nodes n on n.id = c.node_id
      left join node_config_state s on s.node_id = c.node_id and s.binary_name = c.binary_name
     where ${chain ?? null}::text is null or n.chain_profile_id = ${chain ?? null}
     group by 1, 2, 3
     order by 1, 2, nodes desc, version`.execute(db);
  return rows;
}
