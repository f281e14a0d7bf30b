import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** Milliseconds by `OPERATION action`. */
export type UsualSteps = ReadonlyMap<string, number>;

const LATEST_ROLLOUTS = 5;
const LATEST_COMMANDS = 200;

/**
 * How long each step of the agent usually takes: the median over the latest successful commands of the same chain and
 * binary, from the results that agents sent. A step that found its work done already tells nothing.
 */
export async function usualSteps(db: Db, rolloutId: string): Promise<UsualSteps> {
  const { rows } = await sql<{ step: string; ms: number }>`
    with latest as (
      select c.operation, c.result
        from agent_commands c
       where c.rollout_id in (
               select other.id from rollouts this
                 join rollouts other
                   on other.chain_profile_id = this.chain_profile_id and other.binary_name = this.binary_name
                where this.id = ${rolloutId}
                order by other.created_at desc limit ${LATEST_ROLLOUTS})
         and c.outcome in ('completed', 'rolled_back') and c.ended_at is not null
       order by c.ended_at desc limit ${LATEST_COMMANDS})
    select latest.operation || ' ' || (step ->> 'action_name') as step,
           percentile_cont(0.5) within group (order by (step ->> 'duration_ms')::float8) as ms
      from latest, jsonb_array_elements(latest.result -> 'steps') as step
     where jsonb_typeof(latest.result -> 'steps') = 'array' and step ->> 'result' = 'executed'
     group by 1`.execute(db);
  return new Map(rows.map(({ step, ms }) => [step, ms]));
}
