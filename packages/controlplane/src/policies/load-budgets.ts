import type { DisruptionBudget } from '@hoodcloud/contracts/policies/disruption-budget';
import { NO_MEMBER_STATES } from '@hoodcloud/domain/availability';
import { type BudgetFacts, type BudgetGroup, budgetGroupOf } from '@hoodcloud/domain/disruption-budget-facts';
import type { ScopedNode } from '@hoodcloud/domain/policy-scope';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { loadPolicies } from './load-policies.ts';
import { FLYING, isUnavailable } from './unavailable-nodes.ts';

/** So many names of unavailable nodes are read for each group; reasons name no more. */
const MOST_NAMES = 6;

/**
 * Every disruption budget that can be for a node of the chain, counted now. Counted in the database, one row a group, so that
 * a fleet of 10,000 nodes costs no more than a look at its table.
 * @param onlyFor the node that asks: only its own groups are counted
 */
export async function loadBudgets(
  db: Db,
  chainProfileId: string,
  now: Date,
  onlyFor?: ScopedNode,
): Promise<BudgetFacts[]> {
  const budgets = await loadPolicies(db, 'disruption_budget');
  const facts: BudgetFacts[] = [];
  for (const { name, spec } of budgets) {
    if (spec.scope.chains !== undefined && !spec.scope.chains.includes(chainProfileId)) continue;
    const per = spec.per ?? null;
    const group = onlyFor && budgetGroupOf({ scope: spec.scope, per }, onlyFor);
    if (group === null) continue;
    const groups = await countGroups(db, spec, now, group);
    facts.push({ name, scope: spec.scope, per, maxUnavailable: spec.max_unavailable, groups });
  }
  return facts;
}

interface GroupRow {
  readonly value: string;
  readonly members: number;
  readonly unavailable: number;
  readonly names: string[] | null;
}

async function countGroups(
  db: Db,
  { scope, per }: DisruptionBudget,
  now: Date,
  only: string | undefined,
): Promise<Map<string, BudgetGroup>> {
  const value = per === undefined ? sql`''` : sql`n.labels->>${per}`;
  const { rows } = await sql<GroupRow>`
    select value, count(*)::int as members, count(*) filter (where unavailable)::int as unavailable,
           (array_agg(name order by name) filter (where unavailable))[1:${sql.lit(MOST_NAMES)}] as names
      from (select ${value} as value, n.name, ${isUnavailable(now)} as unavailable
              from nodes n ${FLYING}
             where n.state <> all(${[...NO_MEMBER_STATES]}::text[]) and ${inScope(scope)}) member
     where ${only === undefined ? sql`value is not null` : sql`value = ${only}`}
     group by value`.execute(db);
  return new Map(
    rows.map(({ value: key, members, unavailable, names }) => [key, { members, unavailable, names: names ?? [] }]),
  );
}

/** `covers` of domain/policy-scope.ts, in the database's words. */
function inScope({ chains, node_types, labels }: DisruptionBudget['scope']): RawBuilder<boolean> {
  const parts = [sql<boolean>`true`];
  if (chains !== undefined) parts.push(sql`n.chain_profile_id = any(${chains}::text[])`);
  if (node_types !== undefined) parts.push(sql`n.node_type = any(${node_types}::text[])`);
  for (const [label, wanted] of Object.entries(labels ?? {})) {
    parts.push(sql`n.labels->>${label} = any(${[wanted].flat()}::text[])`);
  }
  return sql.join(parts, sql` and `);
}
