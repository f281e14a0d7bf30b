import { DASHBOARD_PATHS, placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import type { SavedPlanView } from '@hoodcloud/contracts/http/rollout-plans';
import { Anchor, Button } from '@mantine/core';
import { Link } from 'react-router';
import { Ago } from '../components/ago.tsx';
import { Loaded } from '../components/loaded.tsx';
import { PageHead } from '../components/page-head.tsx';
import { StatusMark } from '../components/status-mark.tsx';
import { type Column, VirtualRows } from '../components/virtual-rows.tsx';
import { useSavedPlans } from '../plan/plan-queries.ts';

const COLUMNS: readonly Column<SavedPlanView>[] = [
  {
    name: 'Plan',
    width: '2fr',
    wide: true,
    cell: ({ id, chain_profile_id, binary_name, target_version }) => (
      <Anchor component={Link} to={placeOf('plan', id)} inherit>
        {chain_profile_id}: {binary_name} {target_version}
      </Anchor>
    ),
  },
  { name: 'State', width: '0.8fr', cell: ({ state }) => <StatusMark status={state} /> },
  { name: 'Nodes', width: '0.6fr', cell: ({ nodes }) => String(nodes) },
  { name: 'Strategy', width: '0.9fr', cell: ({ strategy }) => strategy.replaceAll('_', ' ') },
  { name: 'Saved by', width: '1.2fr', cell: ({ saved_by }) => saved_by },
  { name: 'Saved', width: '0.8fr', cell: ({ created_at }) => <Ago at={created_at} /> },
];

/** Plans that were saved, the newest first. */
export function PlansPage() {
  return (
    <>
      <PageHead title="Plans">
        <Button component={Link} to={DASHBOARD_PATHS.newPlan}>
          Plan a rollout
        </Button>
      </PageHead>
      <Loaded query={useSavedPlans()} what="the plans">
        {({ items }) => (
          <VirtualRows
            label="plans"
            items={items}
            columns={COLUMNS}
            idOf={({ id }) => id}
            empty="No plan is saved. Plan a rollout, look at what it would do, and save it."
          />
        )}
      </Loaded>
    </>
  );
}
