import type { Page } from '@hoodcloud/contracts/http/common';
import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { SavedPlanDetail, SavedPlanListQuery, SavedPlanView } from '@hoodcloud/contracts/http/rollout-plans';
import { createRolloutSchema } from '@hoodcloud/contracts/http/rollout-requests';
import type { PlanFacts } from '@hoodcloud/domain/plan-differences';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { isAfterCursor, toPage } from '../http/page-cursor.ts';
import { timestamp, timestampOrNull } from '../http/timestamps.ts';
import type { RolloutSources } from '../rollouts/prepare-rollout.ts';
import { comparePlan } from './start-plan.ts';

const STATE = sql<SavedPlanView['state']>`case when started_at is not null then 'started'
  when expires_at <= now() then 'expired' else 'saved' end`;

/** One page of saved plans, newest first. */
export async function listPlans(db: Db, query: SavedPlanListQuery): Promise<Page<SavedPlanView>> {
  let select = selectPlans(db)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(query.limit + 1);
  if (query.chain_profile_id) select = select.where('chain_profile_id', '=', query.chain_profile_id);
  if (query.state) select = select.where(STATE, '=', query.state);
  if (query.cursor) select = select.where(isAfterCursor(query.cursor));
  return toPage(await select.execute(), query.limit, planSummary, (row) => [row.created_at_text, row.id]);
}

/** One saved plan with what has changed since; null when there is none. */
export async function findPlan(db: Db, sources: RolloutSources, id: string): Promise<SavedPlanDetail | null> {
  const row = await selectPlans(db).select(['plan', 'facts']).where('id', '=', id).executeTakeFirst();
  if (!row) return null;
  const request = createRolloutSchema.parse(row.request);
  const saved = { request, facts: row.facts as PlanFacts, rolloutId: row.rollout_id };
  const differences = row.state === 'saved' ? (await comparePlan(db, sources, saved)).differences : [];
  return { ...planSummary(row), plan: row.plan as RolloutPlanView, differences: [...differences] };
}

function selectPlans(db: Db) {
  return db.selectFrom('rollout_plans').select([
    'id',
    'chain_profile_id',
    'request',
    'rollout_id',
    'saved_by',
    'reason',
    'created_at',
    'expires_at',
    'started_by',
    'started_at',
    STATE.as('state'),
    sql<string>`created_at::text`.as('created_at_text'),
    sql<string | null>`plan->>'binary_name'`.as('binary_name'),
    sql<string | null>`plan->>'target_version'`.as('target_version'),
    sql<number>`coalesce((select sum(jsonb_array_length(batch->'nodes'))
        from jsonb_array_elements(plan->'batches') batch), 0)::int`.as('nodes'),
  ]);
}

type PlanRow = Awaited<ReturnType<ReturnType<typeof selectPlans>['executeTakeFirstOrThrow']>>;

function planSummary(row: PlanRow): SavedPlanView {
  const { node_type, strategy } = row.request as { readonly node_type: string; readonly strategy: string };
  const { id, state, chain_profile_id, binary_name, target_version, nodes, saved_by, reason, started_by } = row;
  return {
    id,
    state,
    chain_profile_id,
    node_type,
    binary_name,
    target_version,
    strategy,
    nodes,
    saved_by,
    reason,
    created_at: timestamp(row.created_at),
    expires_at: timestamp(row.expires_at),
    started_by,
    started_at: timestampOrNull(row.started_at),
    rollout_id: state === 'started' ? row.rollout_id : null,
  };
}
