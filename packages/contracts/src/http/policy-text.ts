import { renderDuration } from '@hoodcloud/domain/duration-text';
import type { PolicyScope } from '@hoodcloud/domain/policy-scope';
import { weeklyWindowText } from '@hoodcloud/domain/weekly-window-text';
import type { DisruptionBudget } from '../policies/disruption-budget.ts';
import type { Freeze } from '../policies/freeze.ts';
import type { MaintenanceWindow } from '../policies/maintenance-window.ts';
import type { PolicyView, RolloutOverrides } from './policies.ts';

type SaidPolicy = Pick<PolicyView, 'kind' | 'spec'>;

/** What a policy says, e.g. `At most 1 of validator nodes may be unavailable at once, for each zone by itself.` */
export function policyText({ kind, spec }: SaidPolicy): string {
  if (kind === 'disruption_budget') return budgetText(spec as DisruptionBudget);
  if (kind === 'maintenance_window') {
    const window = spec as MaintenanceWindow;
    return `${capital(scopeText(window.scope, 'all nodes'))} may be started only ${weeklyWindowText(window)}.`;
  }
  const { scope, from, to, reason } = spec as Freeze;
  return `Nothing starts on ${scopeText(scope, 'any node')} from ${from} to ${to}: ${reason}`;
}

function budgetText({ scope, per, max_unavailable: most }: DisruptionBudget): string {
  const each = per === undefined ? '' : `, for each ${per} by itself`;
  const rounded = typeof most === 'string' ? ' (rounded down, never below 1)' : '';
  return `At most ${most}${rounded} of ${scopeText(scope, 'all nodes')} may be unavailable at once${each}.`;
}

/** `validator nodes of gaia or noble with zone eu or us`; a scope that narrows nothing is `whole`. */
function scopeText({ chains, node_types: types, labels = {} }: PolicyScope, whole: string): string {
  const pairs = Object.entries(labels).map(([label, values]) => `${label} ${[values].flat().join(' or ')}`);
  if (!chains && !types && pairs.length === 0) return whole;
  const parts = [types?.join(' or '), 'nodes', chains && `of ${chains.join(' or ')}`];
  return [...parts, pairs.length > 0 && `with ${pairs.join(' and ')}`].filter(Boolean).join(' ');
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Whether a freeze holds now, is the next to come, comes later, or has ended. */
export type FreezeState = 'stands' | 'next' | 'later' | 'over';

/**
 * How a freeze stands among all policies.
 * @returns null for a policy of another kind
 */
export function freezeState(policy: SaidPolicy, all: readonly SaidPolicy[], now: Date): FreezeState | null {
  if (policy.kind !== 'freeze') return null;
  const { from, to } = policy.spec as Freeze;
  if (Date.parse(to) <= now.getTime()) return 'over';
  if (Date.parse(from) <= now.getTime()) return 'stands';
  const begins = all.flatMap(({ kind, spec }) => (kind === 'freeze' ? [Date.parse((spec as Freeze).from)] : []));
  const first = Math.min(...begins.filter((at) => now.getTime() < at));
  return Date.parse(from) === first ? 'next' : 'later';
}

/** `frozen now, 3 h left`, `next freeze, in 2 d`, `begins in 9 d`, `over`; null for a policy of another kind. */
export function freezeStateText(policy: SaidPolicy, all: readonly SaidPolicy[], now: Date): string | null {
  const { from, to } = policy.spec as Freeze;
  const until = (at: string) => renderDuration(Date.parse(at) - now.getTime());
  switch (freezeState(policy, all, now)) {
    case 'stands':
      return `frozen now, ${until(to)} left`;
    case 'next':
      return `next freeze, in ${until(from)}`;
    case 'later':
      return `begins in ${until(from)}`;
    case 'over':
      return 'over';
    case null:
      return null;
  }
}

/** Where a policy is written down. */
export function managedByText({ managed_by: source }: Pick<PolicyView, 'managed_by'>): string {
  return source ?? 'by hand';
}

/** Who must agree before a rule is set aside, e.g. `1 of 2 people agreed (key:ann)`. */
export function agreedText({
  persons,
  agreed,
}: Pick<RolloutOverrides['holding'][number], 'persons' | 'agreed'>): string {
  const who = agreed.length > 0 ? ` (${agreed.join(', ')})` : '';
  return persons === 1 && agreed.length === 0 ? 'one person may' : `${agreed.length} of ${persons} people agreed${who}`;
}

/** How long what was set aside stays so. */
export function asideText({
  expired,
  expires_at: at,
}: Pick<RolloutOverrides['items'][number], 'expired' | 'expires_at'>) {
  return expired ? 'expired' : `until ${at}`;
}
