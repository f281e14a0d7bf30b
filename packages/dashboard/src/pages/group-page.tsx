import { placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import type { ComponentProgress, RolloutGroupDetail } from '@hoodcloud/contracts/http/rollout-groups';
import { renderDuration } from '@hoodcloud/domain/duration-text';
import { Anchor } from '@mantine/core';
import { Link, useParams } from 'react-router';
import { useGroup, useGroupStatus } from '../api/queries.ts';
import { Ago } from '../components/ago.tsx';
import { Facts } from '../components/facts.tsx';
import { Loaded } from '../components/loaded.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Panel } from '../components/panel.tsx';
import { StatusMark } from '../components/status-mark.tsx';
import { type Column, VirtualRows } from '../components/virtual-rows.tsx';
import { Why } from '../components/why.tsx';
import { GroupControls } from '../rollout/group-controls.tsx';

const COLUMNS: readonly Column<ComponentProgress>[] = [
  {
    name: 'Component',
    width: '2fr',
    cell: ({ binary_name, target_version, rollout_id }) => {
      const text = `${binary_name} to ${target_version}`;
      if (rollout_id === null) return text;
      return (
        <Anchor component={Link} to={placeOf('rollout', rollout_id)} inherit>
          {text}
        </Anchor>
      );
    },
  },
  {
    name: 'Status',
    width: '1fr',
    cell: ({ status, skipped }) => <StatusMark status={skipped ? 'skipped' : (status ?? 'not begun')} />,
  },
  {
    name: 'Nodes',
    width: '1.2fr',
    cell: (it) =>
      it.rollout_id === null ? '–' : `${it.succeeded_nodes} of ${it.total_nodes} succeeded, ${it.failed_nodes} failed`,
  },
  { name: 'Why', width: '3fr', wide: true, cell: ({ status_reason }) => status_reason?.sentence ?? '–' },
];

/** One group: where it stands and why, and its components in their order. */
export function GroupPage() {
  const { id = '' } = useParams();
  return (
    <Loaded query={useGroup(id)} what="the group">
      {(group) => <Whole group={group} />}
    </Loaded>
  );
}

function Whole({ group }: { readonly group: RolloutGroupDetail }) {
  const status = useGroupStatus(group.id);
  return (
    <>
      <PageHead title={`${group.chain_profile_id}: ${group.component_order.length} components`}>
        <GroupControls group={group} />
      </PageHead>
      <Panel title="Where it stands">
        <Why title={group.status === 'running' ? 'Now' : 'Why'} reasons={group.why} />
        <Facts
          of={[
            ['Status', <StatusMark key="status" status={group.status} />],
            ['Since', <Ago key="since" at={group.status_changed_at} />],
            ['When one fails', group.failure_policy.replaceAll('_', ' ')],
            ['Gate', `the next component waits up to ${renderDuration(group.gate_timeout_ms)} for healthy nodes`],
            ['Created by', group.created_by],
            [
              'Id',
              <span key="id" className="mono">
                {group.id}
              </span>,
            ],
          ]}
        />
      </Panel>
      <Panel title="Components, in their order">
        <Loaded query={status} what="the components">
          {({ components }) => (
            <VirtualRows
              label="Components"
              columns={COLUMNS}
              items={components}
              idOf={({ component_index }) => String(component_index)}
              empty="It has none."
            />
          )}
        </Loaded>
      </Panel>
    </>
  );
}
