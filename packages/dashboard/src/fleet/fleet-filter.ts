import { NODE_STATES } from '@hoodcloud/domain/node-state';
import type { NodeFilter } from '../api/queries.ts';

/** What the fleet is filtered by, as it stands in the address. */
export const FLEET_FILTERS = ['name', 'chain', 'version', 'state', 'zone', 'offline'] as const;
export type FleetFilter = Readonly<Record<(typeof FLEET_FILTERS)[number], string>>;

/** The same as the server is asked; what the address says wrongly is left out. */
export function nodeFilterOf({ name, chain, version, state, zone, offline }: FleetFilter): NodeFilter {
  const known = NODE_STATES.find((one) => one === state);
  return {
    ...(name !== '' && { name }),
    ...(chain !== '' && { chain_profile_id: chain }),
    ...(version !== '' && { version }),
    ...(known !== undefined && { state: known }),
    ...(zone !== '' && { zone }),
    ...(offline === 'yes' && { online: 'false' }),
  };
}
