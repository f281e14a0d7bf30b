import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import { placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import { holdText } from '@hoodcloud/contracts/http/node-holds';
import type { FleetSummary, NodeView } from '@hoodcloud/contracts/http/nodes';
import { Anchor, Group, Select, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Link } from 'react-router';
import { TOPICS, useFleetSummary, useNodes } from '../api/queries.ts';
import { Ago } from '../components/ago.tsx';
import { Listed } from '../components/listed.tsx';
import { Loaded } from '../components/loaded.tsx';
import { PageHead } from '../components/page-head.tsx';
import { StatusMark } from '../components/status-mark.tsx';
import { useUrlFilter } from '../components/use-url-filter.ts';
import type { Column } from '../components/virtual-rows.tsx';
import { FleetCounts } from '../fleet/fleet-counts.tsx';
import { FLEET_FILTERS, nodeFilterOf } from '../fleet/fleet-filter.ts';
import { useFreshRows } from '../live/fresh-rows.ts';

const COLUMNS: readonly Column<NodeView>[] = [
  {
    name: 'Node',
    width: '1.5fr',
    cell: ({ id, name }) => (
      <Anchor component={Link} to={placeOf('node', id)} inherit>
        {name}
      </Anchor>
    ),
  },
  {
    name: 'State',
    width: '1fr',
    cell: ({ display_state, holds }) => (
      <>
        <StatusMark status={display_state} />
        {holds.length > 0 && <span title={holds.map(holdText).join('; ')}> {keptText(holds)}</span>}
      </>
    ),
  },
  { name: 'Chain', width: '1.4fr', cell: ({ chain_profile_id, node_type }) => `${chain_profile_id} (${node_type})` },
  { name: 'Runs', width: '2fr', wide: true, cell: versionsText },
  { name: 'Height', width: '0.8fr', cell: ({ height }) => height?.toLocaleString('en') ?? '–' },
  {
    name: 'Heard',
    width: '1fr',
    cell: ({ last_heartbeat_at: at, online }) =>
      at === null ? (
        'never'
      ) : (
        <>
          {!online && 'offline, '}
          <Ago at={at} />
        </>
      ),
  },
];

/** `held`, `pinned`, or both. */
function keptText(holds: NodeView['holds']): string {
  return [...new Set(holds.map(({ kind }) => (kind === 'hold' ? 'held' : 'pinned')))].join(', ');
}

function versionsText({ components }: NodeView): string {
  if (components.length === 0) return '–';
  return components
    .map(({ binary_name, binary_version }) => `${binary_name} ${binary_version ?? 'unknown'}`)
    .join(', ');
}

type Counted = readonly { readonly value: string; readonly nodes: number }[];

/** Every node; what is filtered is filtered by the server, and kept in the address. */
export function FleetPage() {
  const [filter, set] = useUrlFilter(FLEET_FILTERS);
  const [settled] = useDebouncedValue(filter, 250);
  const asked = nodeFilterOf(settled);
  const list = useNodes(asked);
  const summary = useFleetSummary(filter.chain);
  const whole = useFleetSummary('');
  const onSight = useFreshRows<NodeView>({
    queryKey: [TOPICS.nodes, asked],
    path: PATHS.nodes,
    idOf: ({ id }) => id,
    isMoving: () => false,
  });
  const choice = (name: 'chain' | 'version' | 'zone', label: string, counted: Counted) => (
    <Select
      label={label}
      placeholder="any"
      data={counted.map(({ value, nodes }) => ({ value, label: `${value} (${nodes})` }))}
      value={filter[name] === '' ? null : filter[name]}
      onChange={(value) => set({ [name]: value })}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': `Any ${name}` }}
    />
  );
  return (
    <>
      <PageHead title="Fleet" />
      <Loaded query={summary} what="the counts">
        {(counts) => <FleetCounts summary={counts} filter={filter} onFilter={set} />}
      </Loaded>
      <Group component="search" className="filters" gap="sm" mb="md" align="flex-end">
        <TextInput label="Name" value={filter.name} onChange={(event) => set({ name: event.currentTarget.value })} />
        {choice(
          'chain',
          'Chain',
          (whole.data?.chains ?? []).map((it) => ({ value: it.chain_profile_id, nodes: it.nodes })),
        )}
        {choice('version', 'Version', versionsOf(summary.data))}
        {choice(
          'zone',
          'Zone',
          (summary.data?.zones ?? []).flatMap(({ zone, nodes }) => (zone === null ? [] : [{ value: zone, nodes }])),
        )}
      </Group>
      <Listed
        list={list}
        what="nodes"
        columns={COLUMNS}
        idOf={({ id }) => id}
        onSight={onSight}
        empty="No node fits. hoodctl node add --help tells how hosts join."
      />
    </>
  );
}

/** Every version that is named, whatever binary has it. */
function versionsOf(summary: FleetSummary | undefined): Counted {
  const nodes = new Map<string, number>();
  for (const one of summary?.versions ?? []) {
    if (one.version !== null) nodes.set(one.version, (nodes.get(one.version) ?? 0) + one.nodes);
  }
  return [...nodes].map(([value, count]) => ({ value, nodes: count }));
}
