/** Places of the dashboard: the api role answers each with its page, the page draws what belongs there. */
export const DASHBOARD_PATHS = {
  rollouts: '/rollouts',
  rollout: '/rollouts/:id',
  plans: '/plans',
  newPlan: '/plans/new',
  plan: '/plans/:id',
  fleet: '/nodes',
  node: '/nodes/:id',
  groups: '/groups',
  group: '/groups/:id',
  incidents: '/incidents',
  approvals: '/approvals',
  chains: '/chains',
  chain: '/chains/:id',
  policies: '/policies',
  audit: '/audit',
  /** Where an OpenID provider sends people back to. */
  signIn: '/sign-in',
} as const;

/** Where one thing is shown, e.g. `placeOf('node', id)`. */
export function placeOf(page: 'rollout' | 'plan' | 'node' | 'group' | 'chain', id: string): string {
  return DASHBOARD_PATHS[page].replace(':id', encodeURIComponent(id));
}
