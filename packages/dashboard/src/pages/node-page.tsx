import { placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import { holdText } from '@hoodcloud/contracts/http/node-holds';
import type { NodeDetail, NodeView } from '@hoodcloud/contracts/http/nodes';
import { sentencesOf, versionsOf } from '@hoodcloud/contracts/http/view-text';
import { Anchor, Text } from '@mantine/core';
import { Link, useParams } from 'react-router';
import { useNewestNodeEvents, useNewestRowOf, useNode } from '../api/queries.ts';
import { Ago } from '../components/ago.tsx';
import { EventTimeline } from '../components/event-timeline.tsx';
import { Facts } from '../components/facts.tsx';
import { Loaded } from '../components/loaded.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Panel } from '../components/panel.tsx';
import { StatusMark } from '../components/status-mark.tsx';
import { Why } from '../components/why.tsx';
import { NodeComponents } from '../node/node-components.tsx';
import { NodeUpgrades } from '../node/node-upgrades.tsx';
import { TimeInPhase } from '../rollout/time-in-phase.tsx';

/** One node: what it is, what it runs, its newest rollout and why it waits there, its history. */
export function NodePage() {
  const { id = '' } = useParams();
  return (
    <Loaded query={useNode(id)} what="the node">
      {(node) => <Whole node={node} />}
    </Loaded>
  );
}

function Whole({ node }: { readonly node: NodeDetail }) {
  const events = useNewestNodeEvents(node.id);
  return (
    <>
      <PageHead title={node.name}>
        <StatusMark status={node.display_state} />
      </PageHead>
      <div className="two">
        <div>
          <Why title="Now" reasons={node.why} />
          <Panel title="Node">
            <About node={node} />
          </Panel>
          <Panel title="In its chain’s newest rollout">
            <NewestRollout node={node} />
          </Panel>
          <Panel title="Components">
            <NodeComponents node={node} />
          </Panel>
        </div>
        <Panel title="Timeline (UTC)">
          <Loaded query={events} what="the events">
            {(page) => <EventTimeline page={page} />}
          </Loaded>
        </Panel>
      </div>
      <Panel title="What rollouts did here">
        <NodeUpgrades nodeId={node.id} />
      </Panel>
    </>
  );
}

function About({ node }: { readonly node: NodeView }) {
  const labels = Object.entries(node.labels).map(([name, value]) => `${name}=${value}`);
  return (
    <Facts
      of={[
        ['Chain', `${node.chain_profile_id} (${node.node_type})`],
        ['State', node.state],
        ['Health', `${node.application_health}, ${node.sync_status}`],
        ['Height', node.height?.toLocaleString('en')],
        ['Agent', node.joined_at === null ? 'has never joined' : node.online ? 'online' : 'offline'],
        ['Heard', node.last_heartbeat_at && <Ago key="heard" at={node.last_heartbeat_at} />],
        ['Quarantined', node.quarantined_at && 'two hosts claim to be this node'],
        ['Clock', node.clock_skew_ms !== null && `${node.clock_skew_ms} ms beside the server’s`],
        ['Platform', node.platform],
        ['Kept', node.holds.length > 0 && node.holds.map(holdText).join('; ')],
        ['Labels', labels.join(', ')],
        [
          'Id',
          <span key="id" className="mono">
            {node.id}
          </span>,
        ],
      ]}
    />
  );
}

function NewestRollout({ node }: { readonly node: NodeView }) {
  return (
    <Loaded query={useNewestRowOf(node)} what="its rollout">
      {(found) => {
        if (found === null) return <Text c="dimmed">The newest rollout of its chain does not have it.</Text>;
        const { rollout, row } = found;
        return (
          <Facts
            of={[
              [
                'Rollout',
                <Anchor key="rollout" component={Link} to={placeOf('rollout', rollout.id)} inherit>
                  {rollout.binary_name} {versionsOf(rollout)}
                </Anchor>,
              ],
              ['Status', <StatusMark key="status" status={row.status} />],
              ['Phase', row.upgrade_phase && <TimeInPhase key="phase" node={row} />],
              ['Why', sentencesOf(row.why)],
              ['Attempts', row.attempt_count],
              ['Version before', row.previous_version],
            ]}
          />
        );
      }}
    </Loaded>
  );
}
