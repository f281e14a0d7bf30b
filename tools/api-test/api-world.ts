import { randomBytes } from 'node:crypto';
import { createApiKey } from '@hoodcloud/controlplane/auth/api-keys';
import { ApiFixture } from '@hoodcloud/controlplane/http/testing/api-fixture';
import { openIncident } from '@hoodcloud/controlplane/incidents/open-incident';
import { reason } from '@hoodcloud/domain/reasons';
import type { RolloutStatus } from '@hoodcloud/domain/rollout-status';
import { insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { addGroups } from './world-groups.ts';
import { addNotifications } from './world-notifications.ts';
import { addPlan } from './world-plans.ts';
import { addPolicies, restorePolicies } from './world-policies.ts';

type PathParameters = Readonly<Record<string, string>>;

/** The API over a real database in which each operation finds something to act upon, again and again. */
export interface ApiWorld {
  readonly api: ApiFixture;
  /** By caller: nobody, and a key of each scope. */
  readonly keys: Readonly<Record<'none' | 'read' | 'operate' | 'admin' | 'override', string>>;
  /** By `operationId`: path parameters of things in the state that the operation needs. */
  readonly pools: Readonly<Record<string, readonly PathParameters[]>>;
  /** What no answer may hold. */
  readonly secrets: readonly string[];
  /** Brings back every state that requests have used up. */
  restore(): Promise<void>;
}

/** Which status a control finds something to do in. */
const CONTROLS: Readonly<Record<string, RolloutStatus>> = {
  startRollout: 'pending',
  pauseRollout: 'running',
  resumeRollout: 'paused',
  cancelRollout: 'running',
  forceRollout: 'running',
  approveRollout: 'running',
  rollbackRollout: 'completed',
  retryRolloutNode: 'running',
  skipRolloutNode: 'running',
  // on the chains that a freeze of world-policies.ts covers
  overrideRule: 'running',
};
const COPIES = 3;

const profile = (id: string) => `chain_profile_id: ${id}
node_types: [validator, full]
binaries:
  - name: cometbft
health:
  healthy_expression: metrics.up == 1
  synced_expression: metrics.syncing == 0
`;

/** Makes the world; the examples of the OpenAPI document are about its chain `celestia-mocha`. */
export async function createApiWorld(): Promise<ApiWorld> {
  const api = await ApiFixture.create();
  const { db, pool } = api.database;
  const planted = `planted-${randomBytes(12).toString('hex')}`;
  const pools: Record<string, PathParameters[]> = {};
  const add = (operation: string, parameters: PathParameters) => {
    pools[operation] ??= [];
    pools[operation].push(parameters);
  };
  await api.writeConfig('celestia-mocha/profile.yaml', profile('celestia-mocha'));
  for (let copy = 0; copy < COPIES; copy++) {
    const id = await insertNode(db, {
      chain_profile_id: 'celestia-mocha',
      node_type: 'full',
      variables: JSON.stringify({ seed: planted }),
    });
    for (const operation of ['getNode', 'listNodeUpgrades', 'createJoinToken', 'holdNode', 'pinNode', 'releaseNode'])
      add(operation, { id });
    for (const operation of ['getChain', 'listManifests']) add(operation, { id: 'celestia-mocha' });
    add('nameVersion', { id, binary: 'cometbft' });
    const { id: keyId } = await createApiKey(db, { name: `spare-${copy}`, createdBy: 'system:test' });
    add('revokeApiKey', { id: keyId });
    const { rows } = await pool.query(
      `insert into scope_grants (subject, scope, granted_by) values ($1, 'read', 'system:test') returning id`,
      [`subject-${copy}`],
    );
    add('revokeScopeGrant', { id: rows[0].id });
  }
  for (const [operation, status] of Object.entries(CONTROLS)) {
    for (let copy = 0; copy < COPIES; copy++) await addRollout(api, { operation, status, copy }, add);
  }
  await addPolicies(api, add);
  await addGroups(api, add);
  await addNotifications(api, add);
  await addPlan(api, add);
  const incidentId = await addIncident(api);
  for (const operation of ['getIncident', 'acknowledgeIncident', 'resolveIncident']) add(operation, { id: incidentId });
  const keys = { none: '', read: '', operate: '', admin: api.key, override: '' };
  for (const scope of ['read', 'operate', 'override'] as const) {
    keys[scope] = (await createApiKey(db, { name: scope, createdBy: 'system:test', scopes: [scope] })).key;
  }
  await pool.query('create table wanted as select id, status, direction from rollouts');
  await pool.query('create table wanted_groups as select id, status, direction from rollout_groups');
  return { api, keys, pools, secrets: [planted], restore: () => restore(api) };
}

async function addRollout(
  api: ApiFixture,
  { operation, status, copy }: { operation: string; status: RolloutStatus; copy: number },
  add: (operation: string, parameters: PathParameters) => void,
): Promise<void> {
  const { db } = api.database;
  const chain = `${operation.toLowerCase()}-${copy}`;
  await api.writeConfig(`${chain}/profile.yaml`, profile(chain));
  const id = await insertRollout(db, {
    chain_profile_id: chain,
    status,
    strategy: 'canary',
    migration_type: 'breaking',
    ...(status !== 'pending' && { targets_resolved_at: new Date() }),
  });
  const [canary, failed, waiting] = await Promise.all([1, 2, 3].map(() => insertNode(db, { chain_profile_id: chain })));
  if (!canary || !failed || !waiting) throw new Error('a node was not inserted');
  for (const read of ['getRollout', 'listRolloutNodes', 'listRolloutEvents', 'listRolloutOverrides']) add(read, { id });
  if (operation.endsWith('Node')) add(operation, { id, nodeId: operation.startsWith('retry') ? failed : waiting });
  else add(operation, { id });
  add('getRolloutNodeLogs', { id, nodeId: failed });
  if (status === 'pending') return;
  const ended = { attempt_count: 1, started_at: new Date(1000), ended_at: new Date(2000) };
  await insertRolloutNode(db, id, canary, { status: 'succeeded', ...ended });
  await insertRolloutNode(db, id, failed, { status: 'failed', batch_index: 1, ...ended });
  await insertRolloutNode(db, id, waiting, { batch_index: 1 });
}

async function addIncident(api: ApiFixture): Promise<string> {
  const { db } = api.database;
  await openIncident(db, {
    category: 'upgrade_failed',
    severity: 'critical',
    nodeId: await insertNode(db),
    rolloutId: null,
    dedupeKey: 'api-test',
    summary: 'the upgrade and its undo failed',
    reason: reason('node_quarantined', { node: 'a' }),
    actor: 'system:test',
  });
  return (await db.selectFrom('incidents').select('id').executeTakeFirstOrThrow()).id;
}

async function restore({ database: { db, pool } }: ApiFixture): Promise<void> {
  await restorePolicies(db);
  await pool.query(`
    delete from active_chains
      where owner_id not in (select id from wanted) and owner_id not in (select id from wanted_groups);
    delete from rollouts where id not in (select id from wanted);
    delete from rollout_groups where id not in (select id from wanted_groups);
    delete from node_holds;
    delete from rule_overrides;
    delete from rollout_controls;
    update rollout_plans set started_by = null, started_at = null where started_by is not null;
    delete from rollout_group_controls;
    delete from engine_messages;
    update rollouts r set status = w.status, direction = w.direction from wanted w
      where w.id = r.id and (r.status, r.direction) is distinct from (w.status, w.direction);
    update rollout_groups g set status = w.status, direction = w.direction from wanted_groups w
      where w.id = g.id and (g.status, g.direction) is distinct from (w.status, w.direction);
    update rollout_nodes set status = 'pending', status_reason = null where status = 'skipped';
    update rollout_nodes set requested_attempt = attempt_count where status = 'failed';
    insert into active_chains (chain_profile_id, owner_type, owner_id)
      select r.chain_profile_id, 'rollout', r.id from rollouts r
        where r.status in ('pending', 'running', 'paused') and r.group_id is null
      on conflict do nothing;
    insert into active_chains (chain_profile_id, owner_type, owner_id)
      select g.chain_profile_id, 'rollout_group', g.id from rollout_groups g where g.status in ('pending', 'running', 'paused')
      on conflict do nothing;
    update nodes set last_heartbeat_at = now() where last_heartbeat_at < now() - interval '5 seconds';
    update incidents set status = 'open', acknowledged_at = null, resolved_at = null where status <> 'open';
    delete from notification_deliveries where event_seq is null;
    update notification_deliveries set status = 'dead' where status <> 'dead';
    delete from nodes n where name not like 'node-%'
      and not exists (select from rollout_nodes where node_id = n.id) and not exists (select from join_tokens where node_id = n.id);
    delete from api_keys where created_by = 'key:test' and not exists (select from events where actor = 'key:' || name);
    delete from scope_grants where granted_by = 'key:test';`);
}
