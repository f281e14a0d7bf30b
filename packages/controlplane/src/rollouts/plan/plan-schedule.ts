import type { PlanScheduleView } from '@hoodcloud/contracts/http/rollout-plan';
import type { CreateRolloutRequest } from '@hoodcloud/contracts/http/rollout-requests';
import { firstStart, type TimeRules, timeHolds } from '@hoodcloud/domain/first-start';
import { covers, type ScopedNode } from '@hoodcloud/domain/policy-scope';
import { sentenceOf } from '@hoodcloud/domain/reasons';
import type { Db } from '../../db/database.ts';
import { loadPolicies } from '../../policies/load-policies.ts';

/**
 * When the first node would start by windows, freezes and the rollout's own time, and what holds nodes now.
 * @param nodes those that can be upgraded, by id, and the ids of the first batch
 */
export async function planSchedule(
  db: Db,
  request: CreateRolloutRequest,
  nodes: { readonly first: readonly string[]; readonly all: ReadonlyMap<string, ScopedNode> },
  now: Date,
): Promise<PlanScheduleView> {
  const rules: TimeRules = {
    startAt: request.start_at === undefined ? null : Date.parse(request.start_at),
    windows: request.windows ?? null,
    policies: { windows: await loadPolicies(db, 'maintenance_window'), freezes: await loadPolicies(db, 'freeze') },
  };
  const first = nodes.first.flatMap((id) => nodes.all.get(id) ?? []);
  const starts = alike(rules, first).map((node) => firstStart(node, rules, now.getTime()));
  const known = starts.filter((at) => at !== null);
  return {
    first_start_at: known.length === 0 ? null : new Date(Math.min(...known)).toISOString(),
    holds: holdsNow(rules, [...nodes.all.values()], now.getTime()),
  };
}

/** One node of each kind that the policies do not tell apart. */
function alike({ policies }: TimeRules, nodes: readonly ScopedNode[]): ScopedNode[] {
  const scopes = [...policies.windows, ...policies.freezes].map(({ spec }) => spec.scope);
  const kinds = new Map(nodes.map((node) => [scopes.map((scope) => Number(covers(scope, node))).join(''), node]));
  return [...kinds.values()];
}

/** What holds nodes now, what ends first before what ends later: whatever the order of the nodes. */
function holdsNow(rules: TimeRules, nodes: readonly ScopedNode[], now: number): PlanScheduleView['holds'] {
  const counts = new Map<string, { nodes: number; readonly until: number }>();
  for (const node of nodes) {
    for (const { reason, until = Number.POSITIVE_INFINITY } of timeHolds(node, rules, now)) {
      const sentence = sentenceOf(reason);
      const counted = counts.get(sentence) ?? { nodes: 0, until };
      counted.nodes += 1;
      counts.set(sentence, counted);
    }
  }
  const inOrder = [...counts].sort(([one, a], [other, b]) => a.until - b.until || (one < other ? -1 : 1));
  return inOrder.map(([sentence, counted]) => ({ sentence, nodes: counted.nodes }));
}
