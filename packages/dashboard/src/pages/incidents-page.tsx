import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import { placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import type { IncidentView } from '@hoodcloud/contracts/http/incidents';
import { Anchor, Group, SegmentedControl, Text } from '@mantine/core';
import { Link } from 'react-router';
import { useIncidents } from '../api/queries.ts';
import { Ago } from '../components/ago.tsx';
import { Listed } from '../components/listed.tsx';
import { OrderButton } from '../components/order-button.tsx';
import { PageHead } from '../components/page-head.tsx';
import { StatusMark } from '../components/status-mark.tsx';
import { useUrlFilter } from '../components/use-url-filter.ts';
import type { Column } from '../components/virtual-rows.tsx';

/** The list's filter by status; `all` is no filter. */
const SHOWN: Readonly<Record<IncidentView['status'] | 'all', string>> = {
  open: 'Open',
  acknowledged: 'Acknowledged',
  resolved: 'Resolved',
  all: 'All',
};

const COLUMNS: readonly Column<IncidentView>[] = [
  {
    name: 'What needs a person',
    width: '4fr',
    wide: true,
    cell: ({ summary, recovery_plan, category, runbook }) => (
      <>
        {summary}
        {recovery_plan !== null && <Text size="sm">Recovery plan: {recovery_plan}</Text>}
        <Text size="sm" c="dimmed">
          {category.replaceAll('_', ' ')}, runbook: <Runbook place={runbook} />
        </Text>
      </>
    ),
  },
  { name: 'Severity', width: '0.9fr', cell: ({ severity }) => <StatusMark status={severity} /> },
  { name: 'Status', width: '1fr', cell: ({ status }) => <StatusMark status={status} /> },
  {
    name: 'Where',
    width: '1.2fr',
    cell: ({ node_id, node_name, rollout_id }) => (
      <>
        {node_id !== null && (
          <Anchor component={Link} to={placeOf('node', node_id)} inherit>
            {node_name}
          </Anchor>
        )}
        {node_id !== null && rollout_id !== null && ' · '}
        {rollout_id !== null && (
          <Anchor component={Link} to={placeOf('rollout', rollout_id)} inherit>
            rollout
          </Anchor>
        )}
      </>
    ),
  },
  { name: 'Opened', width: '0.8fr', cell: ({ created_at }) => <Ago at={created_at} /> },
  { name: 'Controls', width: '1.6fr', wide: true, cell: (incident) => <Controls incident={incident} /> },
];

/** A link where the control plane was told an address, else the page's place in the source tree. */
function Runbook({ place }: { readonly place: string }) {
  if (!/^https?:\/\//.test(place)) return <>{place}</>;
  return (
    <Anchor href={place} target="_blank" rel="noreferrer" inherit>
      what to do
    </Anchor>
  );
}

/** What each order says before it is given. */
const ORDERS = {
  acknowledge: {
    button: 'Acknowledge',
    consequence: 'It is seen: others read that you are on it. It stays here until it is resolved.',
  },
  resolve: {
    button: 'Resolve',
    consequence: 'It is over. The same cause opens a new incident; nothing on the host is changed by this.',
  },
} as const;

function Controls({ incident }: { readonly incident: IncidentView }) {
  const { id, status, summary, acknowledged_by, resolved_by } = incident;
  if (status === 'resolved') return <>resolved by {resolved_by}</>;
  const question = (kind: keyof typeof ORDERS) => () => ({
    title: `${ORDERS[kind].button}: ${summary}`,
    ...ORDERS[kind],
    grave: false,
    path: PATHS.incidentControl(id, kind),
    seen: null,
  });
  return (
    <Group gap="xs">
      {status === 'open' && <OrderButton small label="Acknowledge" question={question('acknowledge')} />}
      <OrderButton small label="Resolve" question={question('resolve')} />
      {acknowledged_by !== null && <Text size="sm">{acknowledged_by} is on it</Text>}
    </Group>
  );
}

/** What needs a person, the open ones first asked for. */
export function IncidentsPage() {
  const [filter, set] = useUrlFilter(['status']);
  const shown = isShown(filter.status) ? filter.status : 'open';
  const list = useIncidents({ status: shown === 'all' ? null : shown });
  return (
    <>
      <PageHead title="Incidents">
        <SegmentedControl
          aria-label="Which incidents"
          value={shown}
          onChange={(status) => set({ status })}
          data={Object.entries(SHOWN).map(([value, label]) => ({ value, label }))}
        />
      </PageHead>
      <Listed list={list} what="incidents" columns={COLUMNS} idOf={({ id }) => id} empty="There is none." />
    </>
  );
}

function isShown(status: string): status is keyof typeof SHOWN {
  return Object.hasOwn(SHOWN, status);
}
