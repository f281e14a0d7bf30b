import { chainRuntimeSchema } from '@hoodcloud/contracts/files/chain-profile';
import { decodeUpgradePayload } from '@hoodcloud/contracts/wire/upgrade-payload-codec';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PLAIN_PAYLOADS } from '../db/payload-cipher.ts';
import { sendUpgradeCommand } from './node-upgrade-steps.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

it.each([
  [{}, 0],
  [{ start_seconds: 120, tolerated_restarts: 8 }, 8],
])('budgets %o of a chain tell the agent to tolerate %i restarts at a start', async (budgets, tolerated) => {
  const { db } = database;
  const rolloutId = await insertRollout(db, { status: 'running', chain_profile_id: `chain-${tolerated}` });
  const nodeId = await insertNode(db);
  await insertRolloutNode(db, rolloutId, nodeId, { status: 'in_progress', attempt_count: 1, requested_attempt: 1 });
  const runtime = chainRuntimeSchema.parse({ runtime: { type: 'systemd' }, budgets });
  const chains = {
    runtime: async () => runtime,
    maxBlockIntervalMs: async () => null,
    trustRules: async () => null,
    heightMetric: async () => null,
    stableMs: async () => null,
  };
  const sources = { chains, renderConfigs: async () => new Map(), payloads: PLAIN_PAYLOADS };
  await sendUpgradeCommand(db, sources, { rolloutId, nodeId, attempt: 1 }, 'UPGRADE');
  const row = await db.selectFrom('agent_commands').select('payload').where('node_id', '=', nodeId).executeTakeFirst();
  const { budgets: told } = decodeUpgradePayload(PLAIN_PAYLOADS.open(row?.payload ?? Buffer.of()));
  expect(told?.toleratedRestarts).toBe(tolerated);
});
