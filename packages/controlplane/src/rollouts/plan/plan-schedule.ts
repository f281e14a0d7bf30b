import type { PlanScheduleView, RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { CreateRolloutRequest } from '@hoodcloud/contracts/http/rollout-requests';
import { firstStart, type TimeRules, timeHolds } from '@hoodcloud/domain/first-start';
import { covers, type ScopedNode } from '@hoodcloud/domain/policy-scope';
import { sentenceOf } from '@hoodcloud/domain/reasons';
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { loadPolicies } from '../../policies/load-policies.ts';

/** When the first node would start by windows, freezes and the rollout's own time, and what holds nodes now. */
export async function planSchedule(
  db: Db,
  request: CreateRolloutRequest,
  batches: RolloutPlanView['batches'],
  now: Date,
): Promise<PlanScheduleView> {
  const rules: TimeRules = {
    startAt: request.start_at === undefined ? null : Date.parse(request.start_at),
    windows: request.windows ?? null,
    policies: { windows: await loadPolicies(db, 'maintenance_window'), freezes: await loadPolicies(db, 'freeze') },
  };
  const ids = batches.flatMap(({ nodes }) => nodes.map(({ node_id }) => node_id));
  const nodes = await scopedNodes(db, ids);
  const first = new Set(batches[0]?.nodes.map(({ node_id }) => node_id));
  const starts = alike(
    rules,
    [...nodes].filter(([id]) => first.has(id)).map(([, node]) => node),
  ).map((node) => firstStart(node, rules, now.getTime()));
  const known = starts.filter((at) => at !== null);
  return {
    first_start_at: known.length === 0 ? null : new Date(Math.min(...known)).toISOString(),
    holds: holdsNow(rules, [...nodes.values()], now.getTime()),
  };
}

/** One node of each kind that the policies do not tell apart. */
function alike({ policies }: TimeRules, nodes: readonly ScopedNode[]): ScopedNode[] {
  const scopes = [...policies.windows, ...policies.freezes].map(({ spec }) => spec.scope);
  const kinds = new Map(nodes.map((node) => [scopes.map((scope) => Number(covers(scope, node))).join(''), node]));
  return [...kinds.values()];
}

function holdsNow(rules: TimeRules, nodes: readonly ScopedNode[], now: number): PlanScheduleView['holds'] {
  const counts = new Map<string, number>();
  for (const node of nodes) {
    for (const { reason } of timeHolds(node, rules, now)) {
      const sentence = sentenceOf(reason);
      counts.set(sentence, (counts.get(sentence) ?? 0) + 1);
    }
  }
  return [...counts].map(([sentence, count]) => ({ sentence, nodes: count }));
}

async function scopedNodes(db: Db, ids: readonly string[]): Promise<Map<string, ScopedNode>> {
  const rows = await db
    .selectFrom('nodes')
    .select(['id', 'chain_profile_id', 'node_type', 'labels'])
    .where('id', '=', sql<string>`any(${[...ids]}::uuid[])`)
    .execute();
  return new Map(
    rows.map(({ id, chain_profile_id, node_type, labels }) => [
      id,
      { chainProfileId: chain_profile_id, nodeType: node_type, labels: labels as ScopedNode['labels'] },
    ]),
  );
}
