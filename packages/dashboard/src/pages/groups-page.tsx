import { placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import type { RolloutGroupView } from '@hoodcloud/contracts/http/rollout-groups';
import { Anchor } from '@mantine/core';
import { Link } from 'react-router';
import { useGroups } from '../api/queries.ts';
import { Ago } from '../components/ago.tsx';
import { Listed } from '../components/listed.tsx';
import { PageHead } from '../components/page-head.tsx';
import { StatusMark } from '../components/status-mark.tsx';
import type { Column } from '../components/virtual-rows.tsx';

const COLUMNS: readonly Column<RolloutGroupView>[] = [
  {
    name: 'Group',
    width: '2.4fr',
    wide: true,
    cell: ({ id, chain_profile_id, desired_versions }) => (
      <Anchor component={Link} to={placeOf('group', id)} inherit>
        {chain_profile_id}:{' '}
        {Object.entries(desired_versions)
          .map(([binary, version]) => `${binary} ${version}`)
          .join(', ')}
      </Anchor>
    ),
  },
  { name: 'Status', width: '0.9fr', cell: ({ status }) => <StatusMark status={status} /> },
  { name: 'When one fails', width: '1fr', cell: ({ failure_policy }) => failure_policy.replaceAll('_', ' ') },
  {
    name: 'Why',
    width: '2.4fr',
    wide: true,
    cell: ({ status, waiting, status_reason }) =>
      (status === 'running' ? waiting?.reasons[0]?.sentence : status_reason?.sentence) ?? '–',
  },
  { name: 'Created', width: '0.8fr', cell: ({ created_at }) => <Ago at={created_at} /> },
];

/** Every group of components, the newest first. */
export function GroupsPage() {
  return (
    <>
      <PageHead title="Groups" />
      <Listed
        list={useGroups()}
        what="groups"
        columns={COLUMNS}
        idOf={({ id }) => id}
        empty="There is no group. A group upgrades several components of a chain one after the other: hoodctl group create --help."
      />
    </>
  );
}
