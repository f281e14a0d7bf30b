import type { SavedPlanDetail, SavedPlanView } from '@hoodcloud/contracts/http/rollout-plans';
import { renderPairs, renderTable } from '../output/table.ts';
import { renderPlan } from '../rollouts/plan-text.ts';

/** A saved plan for people: who saved it, whether it still holds, and the plan itself. */
export function renderSavedPlan(saved: SavedPlanDetail): string {
  return [renderPairs(facts(saved)), changes(saved), renderPlan(saved.plan)].filter((part) => part !== '').join('\n');
}

/** Saved plans, one a line. */
export function renderSavedPlans(plans: readonly SavedPlanView[]): string {
  const heads = ['id', 'state', 'chain', 'upgrade', 'strategy', 'nodes', 'saved by', 'until'];
  const rows = plans.map((plan) => [
    plan.id,
    plan.state,
    plan.chain_profile_id,
    `${plan.binary_name ?? '?'} ${plan.target_version ?? '?'}`,
    plan.strategy,
    plan.nodes,
    plan.saved_by,
    plan.expires_at,
  ]);
  return renderTable(heads, rows);
}

function facts(saved: SavedPlanDetail): [string, string | undefined][] {
  const started = saved.started_by === null ? undefined : `${saved.started_by} at ${saved.started_at}`;
  return [
    ['Plan', saved.id],
    ['State', saved.state],
    ['Saved by', `${saved.saved_by} at ${saved.created_at}`],
    ['For', saved.reason ?? undefined],
    ['Until', saved.expires_at],
    ['Started by', started],
    ['Rollout', saved.rollout_id ?? undefined],
  ];
}

function changes({ state, differences }: SavedPlanDetail): string {
  if (state !== 'saved') return '';
  if (differences.length === 0) return 'Nothing has changed since: it can be started.\n';
  const lines = differences.map(({ message }) => `  - ${message}\n`);
  return `✗ It can't be started, since this has changed:\n${lines.join('')}`;
}
