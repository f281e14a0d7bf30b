import { create, toJson } from '@bufbuild/protobuf';
import { chainRuntimeSchema } from '@hoodcloud/contracts/files/chain-profile';
import { type CommandResult, CommandResultSchema, LinkPolicy, Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import { decodeUpgradePayload } from '@hoodcloud/contracts/wire/upgrade-payload-codec';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { checksumOf, insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { json } from '../db/json.ts';
import { PLAIN_PAYLOADS } from '../db/payload-cipher.ts';
import type { AttemptRef } from '../workflows/activity-types.ts';
import { attemptIdOf } from './attempt-rows.ts';
import { loadRolloutSnapshot } from './load-rollout-snapshot.ts';
import { markNodeUpgradeFailed } from './mark-node-failed.ts';
import { sendUpgradeCommand, updateNodeBinaryVersion } from './node-upgrade-steps.ts';
import { listRolloutNodes } from './rollout-node-read-model.ts';

let database: MigratedDatabase;
beforeAll(async () => {
  database = await createMigratedDatabase();
});
afterAll(() => database.dispose());

let chains = 0;

/** An attempt whose UPGRADE was sent, and what the agent was told. */
async function attempt(given: { readonly direction?: 'upgrade' | 'rollback'; readonly show?: 'lines' | 'diff' }) {
  const { db } = database;
  const chain = `chain-${++chains}`;
  const rolloutId = await insertRollout(db, {
    status: 'running',
    chain_profile_id: chain,
    link_policy: 'replace',
    release_name: 'v19',
  });
  const nodeId = await insertNode(db);
  await insertRolloutNode(db, rolloutId, nodeId, {
    status: 'in_progress',
    attempt_count: 1,
    requested_attempt: 1,
    attempt_direction: given.direction ?? 'upgrade',
    previous_version: 'v18.1.0',
    previous_checksum: checksumOf('a'),
  });
  const runtime = chainRuntimeSchema.parse({
    runtime: { type: 'systemd' },
    ...(given.show && { show_config_drift: given.show }),
  });
  const sources = {
    chains: {
      runtime: async () => runtime,
      maxBlockIntervalMs: async () => null,
      trustRules: async () => null,
      heightMetric: async () => null,
      stableMs: async () => null,
    },
    renderConfigs: async () => new Map(),
    payloads: PLAIN_PAYLOADS,
  };
  const ref: AttemptRef = { rolloutId, nodeId, attempt: 1 };
  await sendUpgradeCommand(db, sources, ref, 'UPGRADE');
  const row = await db.selectFrom('agent_commands').select('payload').where('node_id', '=', nodeId).executeTakeFirst();
  return { ref, told: decodeUpgradePayload(PLAIN_PAYLOADS.open(row?.payload ?? Buffer.of())) };
}

async function ends(ref: AttemptRef, outcome: 'completed' | 'rolled_back', result: Partial<CommandResult>) {
  const { $typeName: _, ...rest } = result;
  const full = create(CommandResultSchema, { attemptId: attemptIdOf(ref), outcome: Outcome.COMPLETED, ...rest });
  await database.db
    .updateTable('agent_commands')
    .set({
      status: outcome === 'completed' ? 'completed' : 'failed',
      outcome,
      result: json(toJson(CommandResultSchema, full)),
      ended_at: new Date(),
    })
    .where('attempt_id', '=', attemptIdOf(ref))
    .execute();
}

const drift = (overwritten: boolean, diff: string[]) =>
  create(CommandResultSchema, { configDrifts: [{ path: '/etc/node/app.toml', places: '3', diff, overwritten }] })
    .configDrifts;

it('an upgrade that replaces the link tells the agent the name of its release (A8)', async () => {
  const { told } = await attempt({});
  expect(told).toMatchObject({ linkPolicy: LinkPolicy.REPLACE, releaseName: 'v19' });
});

it('a rollback leads to the place that holds the earlier version, whatever its name', async () => {
  const { told } = await attempt({ direction: 'rollback' });
  expect(told).toMatchObject({ linkPolicy: LinkPolicy.REPLACE, releaseName: '', targetVersion: 'v18.1.0' });
});

it.each([
  [undefined, false],
  ['lines', false],
  ['diff', true],
] as const)('a chain with show_config_drift %s lets the agent send what was edited: %s (C12)', async (show, sends) => {
  const { told } = await attempt(show === undefined ? {} : { show });
  expect(told.showDrift).toBe(sends);
});

it('an edit that stood in the way is shown with the log of the node (E4)', async () => {
  const { ref } = await attempt({ show: 'diff' });
  const diff = ['@@ -1,1 +1,1 @@', '-a', '+b'];
  const errorMessage = '/etc/node/app.toml was changed on the host since it was last written, lines 3';
  await ends(ref, 'rolled_back', { errorCode: 'config_drift', errorMessage, configDrifts: drift(false, diff) });
  await markNodeUpgradeFailed(database.db, ref, undefined);
  const row = await database.db
    .selectFrom('rollout_nodes')
    .select(['log_tail', 'error_message'])
    .where('node_id', '=', ref.nodeId)
    .executeTakeFirst();
  expect(row?.log_tail).toEqual([
    '--- /etc/node/app.toml as last written',
    '+++ /etc/node/app.toml on the host',
    ...diff,
  ]);
  expect(row?.error_message).toContain('lines 3');
});

it("the agent's error code is kept, so that the decision knows the class of the failure", async () => {
  const { ref } = await attempt({});
  await ends(ref, 'rolled_back', { errorCode: 'checksum_mismatch', errorMessage: 'it is another file' });
  await markNodeUpgradeFailed(database.db, ref, undefined);
  const chains = { maxBlockIntervalMs: async () => null, trustRules: async () => null };
  const snapshot = await loadRolloutSnapshot(database.db, ref.rolloutId, chains, new Date(), 'whole');
  expect(snapshot?.nodes).toMatchObject([{ status: 'rolled_back', failureClass: 'artifact' }]);
  const { items } = await listRolloutNodes(database.db, chains, ref.rolloutId, { limit: 1 });
  expect(items).toMatchObject([{ failure_class: 'artifact' }]);
});

it('an edit that was overwritten by policy is an event of the node (E4, field-case 53)', async () => {
  const { ref } = await attempt({});
  await ends(ref, 'completed', { installedChecksum: checksumOf('b'), configDrifts: drift(true, []) });
  await updateNodeBinaryVersion(database.db, ref);
  await updateNodeBinaryVersion(database.db, ref);
  const events = await database.db
    .selectFrom('events')
    .select(['data', 'actor'])
    .where('kind', '=', 'config_drift_overwritten')
    .where('subject_id', '=', ref.nodeId)
    .execute();
  const data = { path: '/etc/node/app.toml', places: '3', attempt_id: attemptIdOf(ref) };
  expect(events).toEqual([{ data, actor: 'system:agent' }]);
});
