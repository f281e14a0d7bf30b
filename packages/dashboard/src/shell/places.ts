import { DASHBOARD_PATHS } from '@hoodcloud/contracts/http/dashboard-paths';

/** The pages that one goes to by themselves, in the order of the menu; `key` follows `g` on the keyboard. */
export const PLACES = [
  { name: 'Rollouts', path: DASHBOARD_PATHS.rollouts, key: 'r' },
  { name: 'Plans', path: DASHBOARD_PATHS.plans, key: 'l' },
  { name: 'Approvals', path: DASHBOARD_PATHS.approvals, key: 'p' },
  { name: 'Incidents', path: DASHBOARD_PATHS.incidents, key: 'i' },
  { name: 'Fleet', path: DASHBOARD_PATHS.fleet, key: 'f' },
  { name: 'Groups', path: DASHBOARD_PATHS.groups, key: 'o' },
  { name: 'Chains', path: DASHBOARD_PATHS.chains, key: 'c' },
  { name: 'Policies', path: DASHBOARD_PATHS.policies, key: 's' },
  { name: 'Audit', path: DASHBOARD_PATHS.audit, key: 'a' },
] as const;
