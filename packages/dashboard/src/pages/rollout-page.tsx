import { placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { progressOf, versionsOf } from '@hoodcloud/contracts/http/view-text';
import { renderDuration } from '@hoodcloud/domain/duration-text';
import { Anchor } from '@mantine/core';
import { Link, useParams } from 'react-router';
import {
  useChain,
  useNewestRolloutEvents,
  useRollout,
  useRolloutBatches,
  useRolloutNodes,
  useRolloutOverrides,
} from '../api/queries.ts';
import { Ago } from '../components/ago.tsx';
import { ChainHeight } from '../components/chain-height.tsx';
import { EventTimeline } from '../components/event-timeline.tsx';
import { Facts } from '../components/facts.tsx';
import { Loaded } from '../components/loaded.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Panel } from '../components/panel.tsx';
import { StatusMark } from '../components/status-mark.tsx';
import { Why } from '../components/why.tsx';
import { BatchPicture } from '../rollout/batch-picture.tsx';
import { RolloutControls } from '../rollout/rollout-controls.tsx';
import { RolloutNodeRows } from '../rollout/rollout-node-rows.tsx';
import { RolloutRules } from '../rollout/rollout-rules.tsx';
import { ThresholdGauge } from '../rollout/threshold-gauge.tsx';

/** One rollout: where it stands and why, what can be ordered, its batches, its nodes, its history. */
export function RolloutPage() {
  const { id = '' } = useParams();
  const rollout = useRollout(id);
  // asked for at once with the rollout, not after it: over ten thousand nodes it takes the server longest
  useRolloutBatches(id);
  useNewestRolloutEvents(id);
  useRolloutNodes(id, {});
  useRolloutOverrides(id);
  return (
    <Loaded query={rollout} what="the rollout">
      {(one) => <Whole rollout={one} />}
    </Loaded>
  );
}

function Whole({ rollout }: { readonly rollout: RolloutDetail }) {
  const batches = useRolloutBatches(rollout.id);
  const events = useNewestRolloutEvents(rollout.id);
  return (
    <>
      <PageHead title={`${rollout.chain_profile_id}: ${rollout.binary_name} ${versionsOf(rollout)}`}>
        <RolloutControls rollout={rollout} />
      </PageHead>
      <div className="two">
        <div>
          <Panel title="Where it stands">
            <Where rollout={rollout} />
          </Panel>
          <RolloutRules rollout={rollout} />
          <Panel title="Batches">
            <Loaded query={batches} what="the batches">
              {(of) => <BatchPicture rollout={rollout} batches={of} />}
            </Loaded>
          </Panel>
          <Panel title="Failure threshold">
            <ThresholdGauge rollout={rollout} />
          </Panel>
        </div>
        <Panel title="Timeline (UTC)">
          <Loaded query={events} what="the events">
            {(page) => <EventTimeline page={page} />}
          </Loaded>
        </Panel>
      </div>
      <Panel title="Nodes">
        <RolloutNodeRows rollout={rollout} />
      </Panel>
    </>
  );
}

function Where({ rollout }: { readonly rollout: RolloutDetail }) {
  const chain = useChain(rollout.chain_profile_id).data;
  const { strategy, batch_size: size, canary_size: canaries } = rollout;
  const changed = rollout.manifest_drift === 'changed' || rollout.manifest_drift === 'missing';
  return (
    <>
      <Why title={rollout.status === 'running' ? 'Now' : 'Why'} reasons={rollout.why} />
      <Facts
        of={[
          ['Status', <StatusMark key="status" status={rollout.status} />],
          ['Since', <Ago key="since" at={rollout.status_changed_at} />],
          ['Progress', progressOf(rollout)],
          ['Chain', chain && <ChainHeight key="chain" chain={chain} />],
          ['In flight', rollout.in_flight_nodes],
          ['Strategy', `${strategy}, ${size} at a time${strategy === 'canary' ? `, ${canaries} canary first` : ''}`],
          ['Health', `each node is watched for ${renderDuration(rollout.health_wait_ms)}`],
          ['Migration', rollout.migration_type],
          [
            'Manifest',
            rollout.upgrade_id &&
              `${rollout.upgrade_id}${changed ? ` (${rollout.manifest_drift} since; the rollout keeps what it stored)` : ''}`,
          ],
          ['Recovery plan', rollout.recovery_plan],
          [
            'Group',
            rollout.group_id && (
              <Anchor component={Link} to={placeOf('group', rollout.group_id)} inherit>
                the group it belongs to
              </Anchor>
            ),
          ],
          ['Created by', rollout.created_by],
          [
            'Id',
            <span key="id" className="mono">
              {rollout.id}
            </span>,
          ],
        ]}
      />
    </>
  );
}
