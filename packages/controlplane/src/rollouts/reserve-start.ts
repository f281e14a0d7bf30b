import { decisionContext } from '@hoodcloud/domain/decision-context';
import { budgetGroupOf } from '@hoodcloud/domain/disruption-budget-facts';
import type { ScopedNode } from '@hoodcloud/domain/policy-scope';
import { purposeOf } from '@hoodcloud/domain/start-gates/start-gate';
import { askGates } from '@hoodcloud/domain/start-gates/start-gates';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { loadPolicies } from '../policies/load-policies.ts';
import { databaseNow } from './database-clock.ts';
import { type ChainLimits, loadRolloutSnapshot } from './load-rollout-snapshot.ts';
import { nodeFacts } from './rollout-facts.ts';
import type { RolloutNodeRow } from './rollout-row.ts';

/**
 * Whether the node of the row may start at this moment: every start gate is asked once more, with facts that are fresh, under
 * the locks of the limits it counts against. The transaction that asks begins the attempt or gives the place up, so two
 * rollouts never both take the last one (field-case 101), and nothing starts on an answer that is old. An offer of the
 * rollout is no place taken: who begins first has it.
 *
 * Locks are taken in the order of their names by everybody, after the rows of rollout and node; whoever waits for one holds
 * none that comes later.
 */
export async function reserveStart(db: Db, chains: ChainLimits, row: RolloutNodeRow): Promise<boolean> {
  const node = await scopedNode(db, row.node_id);
  const locked = await limitsOf(db, chains, node);
  for (const name of locked) await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
  // a budget that was made while this waited is not locked, so this turn is given up
  const now = await limitsOf(db, chains, node);
  if (now.some((name) => !locked.includes(name))) return false;
  return everyGateOpens(db, chains, row);
}

async function everyGateOpens(db: Db, chains: ChainLimits, row: RolloutNodeRow): Promise<boolean> {
  const now = await databaseNow(db);
  const snapshot = await loadRolloutSnapshot(db, row.rollout_id, chains, new Date(now), { only: row.node_id });
  if (!snapshot) return false;
  const context = { ...decisionContext(snapshot, now), offered: [] };
  const facts = nodeFacts(row);
  const candidate = { row: facts, purpose: purposeOf(facts) };
  const { holds, stop } = askGates(candidate, { ...context, underway: context.inFlight.length, chosen: [] });
  return stop === null && holds.length === 0;
}

/** Names of all limits that the node's start counts against, sorted. */
async function limitsOf(db: Db, chains: ChainLimits, node: ScopedNode): Promise<string[]> {
  const budgets = await loadPolicies(db, 'disruption_budget');
  const quorum = (await chains.quorum?.(node.chainProfileId)) ?? null;
  const names = budgets.flatMap(({ name, spec }) => {
    const group = budgetGroupOf({ scope: spec.scope, per: spec.per ?? null }, node);
    return group === null ? [] : [`disruption_budget/${name}/${group}`];
  });
  return [...names, ...(quorum === null ? [] : [`quorum/${node.chainProfileId}`])].sort();
}

async function scopedNode(db: Db, nodeId: string): Promise<ScopedNode> {
  const { chain_profile_id, node_type, labels } = await db
    .selectFrom('nodes')
    .select(['chain_profile_id', 'node_type', 'labels'])
    .where('id', '=', nodeId)
    .executeTakeFirstOrThrow();
  return { chainProfileId: chain_profile_id, nodeType: node_type, labels: labels as ScopedNode['labels'] };
}
