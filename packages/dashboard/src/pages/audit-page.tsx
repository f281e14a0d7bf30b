import { EVENT_KINDS } from '@hoodcloud/contracts/events/event-kinds';
import { DASHBOARD_PATHS, placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import type { EventView } from '@hoodcloud/contracts/http/events';
import { happeningText, whyText } from '@hoodcloud/contracts/http/view-text';
import { Anchor, Group, Select, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Link } from 'react-router';
import type { Query } from '../api/api-client.ts';
import { useAudit } from '../api/queries.ts';
import { Listed } from '../components/listed.tsx';
import { PageHead } from '../components/page-head.tsx';
import { useUrlFilter } from '../components/use-url-filter.ts';
import type { Column } from '../components/virtual-rows.tsx';

const COLUMNS: readonly Column<EventView>[] = [
  {
    name: 'When (UTC)',
    width: '1.1fr',
    cell: ({ occurred_at: at }) => (
      <time dateTime={at} title={at}>
        {at.slice(0, 10)} {at.slice(11, 19)}
      </time>
    ),
  },
  { name: 'Who', width: '1fr', cell: ({ actor }) => actor },
  { name: 'What', width: '1.3fr', cell: happeningText },
  { name: 'About', width: '1.2fr', cell: (event) => <About event={event} /> },
  { name: 'Why', width: '2.4fr', wide: true, cell: whyText },
];

/** What it is about, as the way there. */
function About({ event }: { readonly event: EventView }) {
  const { subject_type: type, subject_id: id, node_id, node_name, rollout_id, chain_profile_id, data } = event;
  const link = (to: string, text: string) => (
    <Anchor component={Link} to={to} inherit>
      {text}
    </Anchor>
  );
  if (type === 'incident') return link(`${DASHBOARD_PATHS.incidents}?status=all`, node_name ?? 'incident');
  if (node_id !== null) return link(placeOf('node', node_id), node_name ?? 'node');
  if (rollout_id !== null) return link(placeOf('rollout', rollout_id), `rollout of ${chain_profile_id}`);
  if (type === 'rollout_group') return link(placeOf('group', id), `group of ${chain_profile_id}`);
  return String(data.name ?? data.subject ?? type.replaceAll('_', ' '));
}

/** The server's filter; days are UTC, and `until` includes the day it names. */
function queryOf(filter: Readonly<Record<'by' | 'actor' | 'kind' | 'chain' | 'from' | 'until', string>>): Query {
  const { by, actor, kind, chain, from, until } = filter;
  const day = (text: string) => (Number.isNaN(Date.parse(text)) ? null : Date.parse(text));
  const after = day(until);
  return {
    by: by === '' ? 'people' : by,
    actor,
    kind,
    chain_profile_id: chain,
    since: day(from) === null ? null : new Date(from).toISOString(),
    until: after === null ? null : new Date(after + 86_400_000).toISOString(),
  };
}

/** Who did what and why, the newest first. */
export function AuditPage() {
  const [filter, set] = useUrlFilter(['by', 'actor', 'kind', 'chain', 'from', 'until']);
  const [asked] = useDebouncedValue(filter, 250);
  const list = useAudit(queryOf(asked));
  const text = (name: 'actor' | 'chain' | 'from' | 'until', label: string, more: object = {}) => (
    <TextInput
      label={label}
      value={filter[name]}
      onChange={(event) => set({ [name]: event.currentTarget.value })}
      {...more}
    />
  );
  return (
    <>
      <PageHead title="Audit" />
      <Group component="search" className="filters" gap="sm" mb="md" align="flex-end">
        <Select
          label="By"
          data={[
            { value: 'people', label: 'people' },
            { value: 'system', label: 'the system' },
            { value: 'all', label: 'everybody' },
          ]}
          value={filter.by === '' ? 'people' : filter.by}
          onChange={(by) => set({ by })}
          allowDeselect={false}
        />
        {text('actor', 'Who')}
        <Select
          label="What"
          placeholder="anything"
          data={EVENT_KINDS.map((value) => ({ value, label: value.replaceAll('_', ' ') }))}
          value={filter.kind === '' ? null : filter.kind}
          onChange={(kind) => set({ kind })}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': 'Anything' }}
        />
        {text('chain', 'Chain', { placeholder: 'exact id' })}
        {text('from', 'From (UTC)', { type: 'date' })}
        {text('until', 'Until (UTC)', { type: 'date' })}
      </Group>
      <Listed
        list={list}
        what="what was done"
        columns={COLUMNS}
        idOf={({ seq }) => String(seq)}
        empty="Nothing fits. What the system did by itself is shown by another choice of “By”."
      />
    </>
  );
}
