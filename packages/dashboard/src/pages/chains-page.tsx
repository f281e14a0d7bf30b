import type { ChainView } from '@hoodcloud/contracts/http/chains';
import { placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import { Anchor } from '@mantine/core';
import { Link } from 'react-router';
import { useChains } from '../api/queries.ts';
import { ChainHeight } from '../components/chain-height.tsx';
import { Loaded } from '../components/loaded.tsx';
import { PageHead } from '../components/page-head.tsx';
import { type Column, VirtualRows } from '../components/virtual-rows.tsx';

const COLUMNS: readonly Column<ChainView>[] = [
  {
    name: 'Chain',
    width: '1.6fr',
    cell: ({ chain_profile_id: id }) => (
      <Anchor component={Link} to={placeOf('chain', id)} inherit>
        {id}
      </Anchor>
    ),
  },
  { name: 'Nodes', width: '1fr', cell: ({ nodes, nodes_online }) => `${nodes_online} of ${nodes} online` },
  { name: 'Height', width: '1.6fr', cell: (chain) => <ChainHeight chain={chain} /> },
  { name: 'Changed by', width: '1fr', cell: ({ active }) => (active === null ? '–' : <ChangedBy active={active} />) },
  { name: 'Manifests', width: '0.7fr', cell: ({ manifests }) => manifests },
  {
    name: 'Files',
    width: '2fr',
    wide: true,
    cell: ({ problems }) => (problems.length === 0 ? 'in order' : <span className="problem">{problems[0]}</span>),
  },
];

/** What changes a chain at this moment, as the way there. */
export function ChangedBy({ active }: { readonly active: NonNullable<ChainView['active']> }) {
  const page = active.type === 'rollout' ? 'rollout' : 'group';
  return (
    <Anchor component={Link} to={placeOf(page, active.id)} inherit>
      a {page}
    </Anchor>
  );
}

/** Every chain of the config folder and of the fleet. */
export function ChainsPage() {
  return (
    <>
      <PageHead title="Chains" />
      <Loaded query={useChains()} what="the chains">
        {({ items }) => (
          <VirtualRows
            label="chains"
            columns={COLUMNS}
            items={items}
            idOf={({ chain_profile_id }) => chain_profile_id}
            empty="There is none: write CHAIN/profile.yaml into the config folder."
          />
        )}
      </Loaded>
    </>
  );
}
