import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import { DASHBOARD_PATHS, placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import { startConsequence } from '@hoodcloud/contracts/http/plan-text';
import type { SavedPlanDetail } from '@hoodcloud/contracts/http/rollout-plans';
import { Anchor } from '@mantine/core';
import { Link, useParams } from 'react-router';
import { Facts } from '../components/facts.tsx';
import { Loaded } from '../components/loaded.tsx';
import { OrderButton } from '../components/order-button.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Panel } from '../components/panel.tsx';
import { StatusMark } from '../components/status-mark.tsx';
import { PlanPanels } from '../plan/plan-panels.tsx';
import { useSavedPlan } from '../plan/plan-queries.ts';
import { Sentences } from '../plan/sentences.tsx';

/** A saved plan: whether it still holds, its start, and what it says. */
export function PlanPage() {
  const { id = '' } = useParams();
  return (
    <Loaded query={useSavedPlan(id)} what="the plan">
      {(saved) => (
        <>
          <PageHead title={titleOf(saved)}>{saved.state === 'saved' && <Start saved={saved} />}</PageHead>
          <Differences saved={saved} />
          <Panel title="The plan">
            <Facts
              of={[
                ['State', <StatusMark key="state" status={saved.state} />],
                ['Saved by', `${saved.saved_by}, ${timeOf(saved.created_at)}`],
                ['For', saved.reason],
                ['May be started until', timeOf(saved.expires_at)],
                ['Started by', saved.started_by && `${saved.started_by}, ${timeOf(saved.started_at ?? '')}`],
                ['Rollout', saved.rollout_id && <RolloutLink id={saved.rollout_id} />],
              ]}
            />
          </Panel>
          <PlanPanels plan={saved.plan} />
        </>
      )}
    </Loaded>
  );
}

const titleOf = ({ chain_profile_id, binary_name, target_version }: SavedPlanDetail) =>
  `Plan: ${chain_profile_id}, ${binary_name} ${target_version}`;

const timeOf = (time: string) => `${time.slice(0, 16).replace('T', ' ')} UTC`;

function RolloutLink({ id }: { readonly id: string }) {
  return (
    <Anchor component={Link} to={placeOf('rollout', id)} inherit>
      Follow the rollout
    </Anchor>
  );
}

/** Says what will happen and asks why; refused when anything has changed since, by the server as well. */
function Start({ saved }: { readonly saved: SavedPlanDetail }) {
  const question = () => ({
    title: `Start: ${saved.chain_profile_id}, ${saved.binary_name} ${saved.target_version}`,
    consequence: startConsequence(saved.plan),
    button: 'Start the rollout',
    grave: saved.plan.migration_type === 'breaking',
    path: PATHS.savedPlanStart(saved.id),
    // the server compares everything that the plan rests on
    seen: null,
  });
  return (
    <OrderButton label="Start…" question={question} scope="admin" plain={false} barred={saved.differences.length > 0} />
  );
}

function Differences({ saved: { state, differences } }: { readonly saved: SavedPlanDetail }) {
  if (state !== 'saved') return null;
  if (differences.length === 0) {
    const sentence = 'What is shown here is what a start would do.';
    return <Sentences title="Nothing has changed since" severity="info" of={[sentence]} />;
  }
  const sentences = differences.map(({ message }) => message);
  return (
    <Sentences title="It can’t be started: this has changed since" severity="critical" of={sentences}>
      <Anchor component={Link} to={DASHBOARD_PATHS.newPlan} inherit>
        Plan again
      </Anchor>
    </Sentences>
  );
}
