import { randomBytes } from 'node:crypto';
import { decodeUpgradePayload } from '@hoodcloud/contracts/wire/upgrade-payload-codec';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { payloadCipher } from '../db/payload-cipher.ts';
import { sendUpgradeCommand } from './node-upgrade-steps.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

it('a rendered config can not be read from the database when a key is configured (C12)', async () => {
  const { db } = database;
  const rolloutId = await insertRollout(db, { status: 'running' });
  const nodeId = await insertNode(db);
  await insertRolloutNode(db, rolloutId, nodeId, { status: 'in_progress', attempt_count: 1, requested_attempt: 1 });
  const payloads = payloadCipher([randomBytes(32)]);
  const content = Buffer.from('password = "s3cret"');
  const sources = {
    chains: {
      runtime: async () => null,
      maxBlockIntervalMs: async () => null,
      trustRules: async () => null,
      heightMetric: async () => null,
      stableMs: async () => null,
    },
    renderConfigs: async () => new Map([[nodeId, [{ path: '/etc/c.toml', content, checksum: '' }]]]),
    payloads,
  };
  await sendUpgradeCommand(db, sources, { rolloutId, nodeId, attempt: 1 }, 'UPGRADE');
  const { payload } = await db.selectFrom('agent_commands').select('payload').executeTakeFirstOrThrow();
  expect(payload.includes('s3cret')).toBe(false);
  const opened = decodeUpgradePayload(payloads.open(payload));
  expect(Buffer.from(opened.configFiles[0]?.content ?? []).toString()).toBe('password = "s3cret"');
});
