import { placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import type { RolloutView } from '@hoodcloud/contracts/http/rollout-views';
import { progressOf, versionsOf } from '@hoodcloud/contracts/http/view-text';
import { ROLLOUT_STATUSES } from '@hoodcloud/domain/rollout-status';
import { Anchor, Select } from '@mantine/core';
import { Link } from 'react-router';
import { useRollouts } from '../api/queries.ts';
import { Ago } from '../components/ago.tsx';
import { Listed } from '../components/listed.tsx';
import { PageHead } from '../components/page-head.tsx';
import { StatusMark } from '../components/status-mark.tsx';
import { useUrlFilter } from '../components/use-url-filter.ts';
import type { Column } from '../components/virtual-rows.tsx';
import { reasonsOf } from '../rollout/waiting-words.ts';

const COLUMNS: readonly Column<RolloutView>[] = [
  {
    name: 'Rollout',
    width: '2fr',
    wide: true,
    cell: (rollout) => (
      <Anchor component={Link} to={placeOf('rollout', rollout.id)} inherit>
        {rollout.chain_profile_id}: {rollout.binary_name} {versionsOf(rollout)}
      </Anchor>
    ),
  },
  { name: 'Status', width: '0.9fr', cell: ({ status }) => <StatusMark status={status} /> },
  { name: 'Progress', width: '1.3fr', cell: progressOf },
  {
    name: 'Why',
    width: '2.4fr',
    wide: true,
    cell: (rollout) => reasonsOf(rollout)[0]?.sentence ?? '–',
  },
  { name: 'Created', width: '0.8fr', cell: ({ created_at }) => <Ago at={created_at} /> },
];

/** Every rollout, the newest first. */
export function RolloutsPage() {
  const [filter, set] = useUrlFilter(['status']);
  const status = filter.status === '' ? null : filter.status;
  const list = useRollouts({ status });
  return (
    <>
      <PageHead title="Rollouts">
        <Select
          aria-label="Status"
          placeholder="Any status"
          data={ROLLOUT_STATUSES.map((value) => ({ value, label: value.replaceAll('_', ' ') }))}
          value={status}
          onChange={(value) => set({ status: value })}
          clearable
          clearButtonProps={{ 'aria-label': 'Any status' }}
        />
      </PageHead>
      <Listed
        list={list}
        what="rollouts"
        columns={COLUMNS}
        idOf={({ id }) => id}
        empty={
          status === null
            ? 'There is no rollout yet: plan one, look at what it would do, and start it.'
            : 'No rollout has this status.'
        }
      />
    </>
  );
}
