import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import { placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { nodeBatchName, sentencesOf, stagedText } from '@hoodcloud/contracts/http/view-text';
import { isInFlight } from '@hoodcloud/domain/node-upgrade-status';
import { Anchor } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { Link } from 'react-router';
import { type RolloutNodeFilter, TOPICS, useRolloutNodes } from '../api/queries.ts';
import { Listed } from '../components/listed.tsx';
import { OrderButton } from '../components/order-button.tsx';
import { StatusMark } from '../components/status-mark.tsx';
import type { Column } from '../components/virtual-rows.tsx';
import { useFreshRows } from '../live/fresh-rows.ts';
import { useSession } from '../session/session.tsx';
import { CONTROL_WORDS } from './control-words.ts';
import { RolloutNodeFilters } from './rollout-node-filters.tsx';
import { TimeInPhase } from './time-in-phase.tsx';

/** Each node: its phase with the time in it, and why it is there, in one sentence. */
export function RolloutNodeRows({ rollout }: { readonly rollout: RolloutDetail }) {
  const [filter, setFilter] = useState<RolloutNodeFilter>({});
  const [asked] = useDebouncedValue(filter, 250);
  const list = useRolloutNodes(rollout.id, asked);
  const onSight = useFreshRows<RolloutNodeView>({
    queryKey: [TOPICS.rolloutNodes, rollout.id, asked],
    path: PATHS.rolloutNodes(rollout.id),
    idOf: ({ node_id }) => node_id,
    isMoving: ({ status }) => isInFlight(status),
  });
  const { api } = useSession();
  const question = (kind: 'retry' | 'skip', { node_id, node_name }: RolloutNodeView) => {
    const { button, consequence, grave = false } = CONTROL_WORDS[kind];
    return {
      title: `${button}: ${node_name}`,
      consequence: consequence(rollout),
      button,
      grave,
      path: PATHS.rolloutNodeControl(rollout.id, node_id, kind),
      seen: api.seenAt(PATHS.rollout(rollout.id)),
    };
  };
  const columns: readonly Column<RolloutNodeView>[] = [
    {
      name: 'Node',
      width: '1.2fr',
      cell: ({ node_id, node_name }) => (
        <Anchor component={Link} to={placeOf('node', node_id)} inherit>
          {node_name}
        </Anchor>
      ),
    },
    {
      name: 'Batch',
      width: '0.6fr',
      cell: (node) => (node.batch_index < 0 ? '–' : nodeBatchName(rollout, node)),
    },
    { name: 'Status', width: '1fr', cell: ({ status }) => <StatusMark status={status} /> },
    { name: 'Phase', width: '1.2fr', cell: (node) => <TimeInPhase node={node} /> },
    ...(rollout.stage
      ? [{ name: 'Ready ahead', width: '1.2fr', cell: (node: RolloutNodeView) => stagedText(node) ?? '–' }]
      : []),
    { name: 'Why', width: '3fr', wide: true, cell: (node) => sentencesOf(node.why) },
    {
      name: 'Controls',
      width: '0.8fr',
      cell: (node) => {
        const kind = controlOf(rollout, node);
        if (kind === null) return null;
        const { button } = CONTROL_WORDS[kind];
        return (
          <OrderButton
            small
            label={button}
            ariaLabel={`${button} ${node.node_name}`}
            question={() => question(kind, node)}
          />
        );
      },
    },
  ];
  return (
    <>
      <RolloutNodeFilters filter={filter} onChange={setFilter} />
      <Listed
        list={list}
        what="nodes of the rollout"
        columns={columns}
        idOf={({ node_id }) => node_id}
        onSight={onSight}
        empty={
          rollout.total_nodes === 0 ? 'The nodes are chosen when the rollout starts.' : 'No node of the rollout fits.'
        }
      />
    </>
  );
}

/** What can be ordered for the node now; the API has the last word. */
function controlOf({ legal_controls }: RolloutDetail, { status }: RolloutNodeView): 'retry' | 'skip' | null {
  if ((status === 'failed' || status === 'rolled_back') && legal_controls.includes('retry')) return 'retry';
  return status === 'pending' && legal_controls.includes('skip') ? 'skip' : null;
}
