import { readFile } from 'node:fs/promises';
import {
  AGENT_OPERATIONS,
  COMMAND_STATUSES,
  OPERATION_OUTCOMES,
  STAGING_OPERATIONS,
} from '@hoodcloud/domain/agent-operation';
import { APPLICATION_HEALTHS, NODE_STATES, SYNC_STATUSES } from '@hoodcloud/domain/node-state';
import { NODE_UPGRADE_STATUSES } from '@hoodcloud/domain/node-upgrade-status';
import { ROLLOUT_CONTROLS } from '@hoodcloud/domain/rollout-control';
import { ROLLOUT_GROUP_STATUSES } from '@hoodcloud/domain/rollout-group-status';
import { ROLLOUT_DIRECTIONS, ROLLOUT_STATUSES } from '@hoodcloud/domain/rollout-status';
import { MIGRATION_TYPES, ROLLOUT_STRATEGIES } from '@hoodcloud/domain/rollout-strategy-name';
import { ACTIVATION_MODES, STAGE_GOALS, STAGE_STATES } from '@hoodcloud/domain/staging';
import { UPGRADE_PHASES } from '@hoodcloud/domain/upgrade-phase';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from './migrate.ts';
import { dumpSchema } from './schema-dump.ts';
import { generateTableTypes } from './table-types.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

function checkedIn(name: string): Promise<string> {
  return readFile(new URL(name, import.meta.url), 'utf8');
}

/** The texts that the CHECK of a column lists. */
async function allowedValues(table: string, column: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ definition: string }>(
    `select pg_get_constraintdef(k.oid) as definition from pg_constraint k
       join pg_attribute a on a.attrelid = k.conrelid and k.conkey = array[a.attnum]
      where k.contype = 'c' and k.conrelid = $1::regclass and a.attname = $2`,
    [table, column],
  );
  return [...(rows[0]?.definition ?? '').matchAll(/'([^']*)'::/g)].map((match) => match[1] ?? '');
}

describe('the schema', () => {
  it('is what schema.sql says', async () => {
    expect(await dumpSchema(database.pool)).toBe(await checkedIn('schema.sql'));
  });

  it('has the table types that are checked in', async () => {
    expect(await generateTableTypes(database.pool)).toBe(await checkedIn('generated/tables.ts'));
  });

  it('is reached once: migrating again runs nothing', async () => {
    expect(await migrate(database.db)).toEqual([]);
  });

  it.each([
    ['rollouts', 'status', ROLLOUT_STATUSES],
    ['rollouts', 'direction', ROLLOUT_DIRECTIONS],
    ['rollouts', 'strategy', ROLLOUT_STRATEGIES],
    ['rollouts', 'migration_type', MIGRATION_TYPES],
    ['rollout_groups', 'status', ROLLOUT_GROUP_STATUSES],
    ['rollout_nodes', 'status', NODE_UPGRADE_STATUSES],
    ['rollout_nodes', 'upgrade_phase', UPGRADE_PHASES],
    ['rollout_nodes', 'attempt_direction', ROLLOUT_DIRECTIONS],
    ['rollout_controls', 'kind', ROLLOUT_CONTROLS],
    ['nodes', 'state', NODE_STATES],
    ['nodes', 'application_health', APPLICATION_HEALTHS],
    ['nodes', 'sync_status', SYNC_STATUSES],
    ['agent_commands', 'operation', [...AGENT_OPERATIONS, ...STAGING_OPERATIONS]],
    ['rollouts', 'activation', ACTIVATION_MODES],
    ['rollout_nodes', 'stage_goal', STAGE_GOALS],
    ['rollout_nodes', 'stage_state', STAGE_STATES],
    ['agent_commands', 'status', COMMAND_STATUSES],
    ['agent_commands', 'outcome', OPERATION_OUTCOMES],
  ] as const)('lets %s.%s hold exactly what the domain knows', async (table, column, values) => {
    expect((await allowedValues(table, column)).sort()).toEqual([...values].sort());
  });
});
