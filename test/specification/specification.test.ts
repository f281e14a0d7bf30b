import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EVENT_KINDS } from '@hoodcloud/contracts/events/event-kinds';
import { nodeUpgradeActivities } from '@hoodcloud/controlplane/rollouts/node-upgrade-activities';
import { rolloutActivities } from '@hoodcloud/controlplane/rollouts/rollout-activities';
import { allMetrics } from '@hoodcloud/controlplane/telemetry/testing/all-metrics';
import { NODE_UPGRADE_TRANSITIONS } from '@hoodcloud/domain/node-upgrade-status';
import { ROLLOUT_GROUP_TRANSITIONS } from '@hoodcloud/domain/rollout-group-status';
import { ROLLOUT_TRANSITIONS } from '@hoodcloud/domain/rollout-status';
import { UPGRADE_PHASE_TRANSITIONS } from '@hoodcloud/domain/upgrade-phase';
import { expect, it } from 'vitest';
import { itemsProvenBy, specificationItems } from '../../tools/spec-coverage/proofs.mjs';

const ROOT = resolve(import.meta.dirname, '../..');
const SELF = 'test/specification/specification.test.ts';
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const says = new Map(specificationItems().map(({ id, says: text }) => [id, text]));

/** The items that proofs.yaml says are proved by the test of this title. */
const of = (title: string) => itemsProvenBy(SELF, title);
const nameOf = (id: string) => id.slice(id.indexOf(':') + 1);

// schema.sql is what the migrations make (schema.db.test.ts)
const schema = read('packages/controlplane/src/db/schema.sql');
const SQL_TYPES: Readonly<Record<string, string>> = {
  UUID: 'uuid',
  JSONB: 'jsonb',
  TEXT: 'text',
  INT: 'integer',
};

function sqlType(told: string): string {
  const [, length] = /^VARCHAR\((\d+)\)/.exec(told) ?? [];
  return length ? `character varying(${length})` : (SQL_TYPES[told.split(' ')[0] ?? ''] ?? told);
}

it.each(of('%s of the specification is in the schema'))('%s of the specification is in the schema', (id) => {
  const [table = '', column] = nameOf(id).split('.');
  const body = schema.split(`create table ${table} (`)[1]?.split('\n);')[0];
  expect(body, table).toBeDefined();
  if (id.startsWith('column:')) {
    expect(body).toMatch(new RegExp(`^  ${column} ${literally(sqlType(says.get(id) ?? ''))}[ ,]`, 'm'));
  }
  if (!id.startsWith('index:')) return;
  const unique = table === 'rollout_nodes' ? 'UNIQUE (rollout_id, node_id)' : `UNIQUE INDEX`;
  const found = schema
    .split('\n')
    .filter((line) => line.includes(unique) && (line.includes(table) || body?.includes(line)));
  expect(found.join('\n')).toMatch(
    table === 'rollout_nodes' ? /rollout_id, node_id/ : /chain_profile_id\) WHERE .*'pending'.*'running'.*'paused'/,
  );
});

const literally = (text: string) => text.replaceAll(/[()]/g, '\\$&');

const TABLES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  RolloutStatus: ROLLOUT_TRANSITIONS,
  RolloutGroupStatus: ROLLOUT_GROUP_TRANSITIONS,
  NodeUpgradeStatus: NODE_UPGRADE_TRANSITIONS,
  UpgradePhase: UPGRADE_PHASE_TRANSITIONS,
};

it.each(of('%s of the specification is in a transition table'))(
  '%s of the specification is in a transition table',
  (id) => {
    const [machine = '', from = '', to] = nameOf(id).split(/ -> | |\./);
    const table = TABLES[machine] ?? {};
    if (from === '[*]') expect(Object.keys(table)[0]).toBe(to);
    else if (to === undefined) expect(Object.keys(table)).toContain(from);
    else expect(table[from]).toContain(to);
  },
);

const openapi = JSON.parse(read('packages/contracts/openapi.json')) as { paths: Record<string, object> };

it.each(of('%s of the specification is served'))('%s of the specification is served', (id) => {
  const [method = '', path = ''] = nameOf(id).split(' ');
  expect(Object.keys(openapi.paths[path] ?? {})).toContain(method.toLowerCase());
});

it.each(of('%s of the specification is registered under its name'))(
  '%s of the specification is registered under its name',
  (id) => {
    // made without stores: only the names are looked at
    const none = undefined as never;
    expect(Object.keys({ ...rolloutActivities(none, none), ...nodeUpgradeActivities(none, none) })).toContain(
      nameOf(id),
    );
  },
);

it.each(of('%s of the specification has its type and its labels'))(
  '%s of the specification has its type and its labels',
  async (id) => {
    const [type = '', labels = ''] = (says.get(id) ?? '').split(' · ');
    const metric = allMetrics().getSingleMetric(nameOf(id)) as unknown as {
      get(): Promise<{ type: string }>;
      labelNames: string[];
    };
    expect((await metric.get()).type).toBe(type.toLowerCase());
    expect(metric.labelNames.filter((name) => name !== 'le')).toEqual(labels.replaceAll('`', '').split(', '));
  },
);

it.each(of('%s of the specification is an event kind'))('%s of the specification is an event kind', (id) => {
  expect(EVENT_KINDS).toContain(nameOf(id));
});
