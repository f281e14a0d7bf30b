import type { Database } from '@hoodcloud/controlplane/db/database';
import { json } from '@hoodcloud/controlplane/db/json';
import { appendEvent } from '@hoodcloud/controlplane/events/append-event';
import { publishEvents } from '@hoodcloud/controlplane/events/event-relay';
import { openIncident } from '@hoodcloud/controlplane/incidents/open-incident';
import { reason } from '@hoodcloud/domain/reasons';
import { insertGroup, insertGroupComponents } from '@hoodcloud/testkit/group-rows';
import { checksumOf, insertNode, insertPolicy, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';

export interface ExampleFleet {
  readonly rolloutId: string;
  readonly groupId: string;
  /** A rollout that waits for the approval of its canaries. */
  readonly waitingId: string;
  /** One that is being upgraded. */
  readonly nodeId: string;
  readonly failedNodeId: string;
}

const CHAIN = 'celestia-mocha';

const PROFILE = `chain_profile_id: celestia-mocha
node_types: [validator, full]
binaries:
  - name: cometbft
    known_versions:
      - { version: v0.20.4, checksum: "${checksumOf('a')}" }
health:
  healthy_expression: metrics.p2p_peers >= 1.0
  synced_expression: metrics.blocksync_syncing == 0.0
  ready_expression: metrics.height - metrics.last_signed_height <= 5.0
  height_metric: height
  max_block_interval_seconds: 60
two_person_approval: true
`;
const manifest = (id: string, version: string, more = '') => `upgrade_id: ${id}
chain_profile_id: celestia-mocha
node_type: validator
binary_name: cometbft
target_version: ${version}
target_url: https://releases.example.org/cometbft/${version}/cometbft-linux-amd64
target_checksum: ${checksumOf('b')}
${more}`;

/** The config folder of the example: a chain in order, one whose profile is wrong, a manifest that no rollout can use. */
export const EXAMPLE_FILES: Readonly<Record<string, string>> = {
  'celestia-mocha/profile.yaml': PROFILE,
  'celestia-mocha/runtime.yaml': 'runtime: { type: systemd }\n',
  'noble/profile.yaml': 'chain_profile_id: noble\nnode_types: [validator]\n',
  'upgrades/celestia-mocha/v0.21.0.yaml': manifest(
    'v0.21.0',
    'v0.21.0',
    'state_compatibility: { migration_type: compatible }\n',
  ),
  'upgrades/celestia-mocha/v1.0.0.yaml': manifest(
    'v1.0.0',
    'v1.0.0',
    `state_compatibility: { migration_type: breaking, notes: The store is another one. }
recovery_plan: State-sync the node from a healthy peer; keep priv_validator_state.json.
config_changes:
  - { path: /var/lib/cometbft/config/config.toml, template: config.toml.tmpl }
`,
  ),
  'upgrades/celestia-mocha/v1.0.1.yaml': manifest('v1.0.0', 'v1.0.1', 'colour: red\n'),
};
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
const NODE_VERSION = { source_version: 'v0.20.4', target_version: 'v0.21.0', binary_name: 'cometbft' };

/** A night before a fork: a rollout with a failure under way, one that waits for a person, a group, an incident, 400 nodes. */
export async function insertExampleFleet(db: Database): Promise<ExampleFleet> {
  const rolloutId = await insertRollout(db, {
    ...NODE_VERSION,
    chain_profile_id: CHAIN,
    status: 'running',
    batch_size: 6,
    failure_threshold: 0.2,
    health_wait_ms: 90_000,
    targets_resolved_at: minutesAgo(21),
    started_at: minutesAgo(21),
    status_changed_at: minutesAgo(21),
    total_nodes: 24,
    succeeded_nodes: 5,
    failed_nodes: 1,
    pending_nodes: 17,
    skipped_nodes: 1,
    last_decision: json({ kind: 'wait', until: null, reasons: [reason('nodes_in_flight', { count: 3, batch: 1 })] }),
  });
  const nodes = await insertRolloutNodes(db, rolloutId);
  await insertConfigs(db, nodes[5] ?? '');
  await insertHistory(db, rolloutId, nodes);
  const waitingId = await insertOthers(db);
  await insertPolicies(db);
  const groupId = await insertExampleGroup(db);
  await publishEvents(db);
  const [nodeId = '', failedNodeId = ''] = [nodes.at(8), nodes.at(5)];
  return { rolloutId, groupId, waitingId, nodeId, failedNodeId };
}

async function insertRolloutNodes(db: Database, rolloutId: string): Promise<string[]> {
  const nodes: string[] = [];
  for (let index = 0; index < 24; index += 1) {
    const name = `validator-${String(index + 1).padStart(2, '0')}`;
    const running = index >= 6 && index < 9;
    const node = await insertNode(db, {
      name,
      chain_profile_id: CHAIN,
      labels: json({ zone: index % 2 === 0 ? 'eu-west' : 'eu-north' }),
      ...(running && { state: 'maintenance', maintenance_owner: rolloutId }),
      height: 4_181_000 + index,
      version: index < 5 ? 'v0.21.0' : 'v0.20.4',
    });
    nodes.push(node);
    await insertRolloutNode(db, rolloutId, node, rowOf(index));
  }
  return nodes;
}

/** One config as the last rollout wrote it, one that somebody edited. */
async function insertConfigs(db: Database, nodeId: string): Promise<void> {
  const [config, app] = ['/var/lib/cometbft/config/config.toml', '/var/lib/cometbft/config/app.toml'];
  const written = json({ [config]: checksumOf('1'), [app]: checksumOf('2') });
  const found = json({ [config]: checksumOf('1'), [app]: checksumOf('3') });
  await db.updateTable('node_config_state').set({ config_hashes: written }).where('node_id', '=', nodeId).execute();
  await db.updateTable('node_components').set({ config_checksums: found }).where('node_id', '=', nodeId).execute();
}

function rowOf(index: number): Parameters<typeof insertRolloutNode>[3] {
  const batch_index = index === 23 ? -1 : Math.floor(index / 6);
  const ended = { attempt_count: 1, started_at: minutesAgo(20), ended_at: minutesAgo(14), duration_ms: 95_000 };
  if (index < 5) return { batch_index, status: 'succeeded', upgrade_phase: 'COMPLETED', downtime_ms: 2100, ...ended };
  if (index === 5) {
    const error_message = 'cometbft did not stay up: it ended with exit status 2; it said: panic: unknown file type';
    const why = reason('upgrade_rolled_back', { error: error_message });
    const told = { error_message, status_reason: why.code, status_reason_params: json(why.params) };
    const log_tail = json(['opening the application database', 'panic: unknown file type', 'exit status 2']);
    return {
      batch_index,
      status: 'failed',
      upgrade_phase: 'ROLLED_BACK',
      ...told,
      log_tail,
      previous_version: 'v0.20.4',
      ...ended,
    };
  }
  if (index < 9) {
    const upgrade_phase = (['STOPPED', 'MUTATING', 'VERIFYING'] as const)[index - 6] ?? 'PREPARING';
    const since = { attempt_count: 1, started_at: minutesAgo(2), phase_changed_at: minutesAgo(1) };
    return { batch_index, status: index === 8 ? 'validating' : 'in_progress', upgrade_phase, ...since };
  }
  if (index < 23) return { batch_index };
  const skipped = reason('skipped_by_operator', { actor: 'key:anna', why: 'its disk is being replaced' });
  return { batch_index, status: 'skipped', status_reason: skipped.code, status_reason_params: json(skipped.params) };
}

async function insertHistory(db: Database, rolloutId: string, nodes: readonly string[]): Promise<void> {
  const of = { subjectType: 'rollout', subjectId: rolloutId, rolloutId } as const;
  await appendEvent(db, {
    ...of,
    kind: 'rollout_started',
    reason: reason('started_by_operator', { actor: 'key:anna' }),
    actor: 'key:anna',
    data: { from: 'pending', to: 'running', direction: 'upgrade' },
  });
  const why = 'v0.21.0 mends the halt at block 4,180,000';
  const ordered = { ...of, kind: 'rollout_control_ordered', actor: 'key:anna' } as const;
  await appendEvent(db, { ...ordered, data: { control: 'start', reason: why } });
  for (const nodeId of nodes.slice(0, 9)) {
    const data = { from: 'pending', to: 'in_progress', phase: 'PREPARING', attempt: 1, direction: 'upgrade' } as const;
    await appendEvent(db, { ...of, kind: 'node_upgrade_started', nodeId, actor: 'system:worker', data });
  }
  const failedNode = nodes[5] ?? '';
  await openIncident(db, {
    category: 'upgrade_failed',
    severity: 'critical',
    nodeId: failedNode,
    rolloutId,
    dedupeKey: `attempt-${failedNode}`,
    summary:
      'validator-06 failed to start v0.21.0 and runs v0.20.4 again: read its log, then retry it or leave it out.',
    recoveryPlan: 'Restore the snapshot of last night before you retry.',
    reason: reason('upgrade_rolled_back', { error: 'cometbft did not stay up: it ended with exit status 2' }),
    actor: 'system:worker',
  });
}

/** A rollout that waits for an approval, one that is over, and enough nodes that a list has to be virtual. */
async function insertOthers(db: Database): Promise<string> {
  const needsApproval = reason('waiting_for_approval', {});
  await db
    .insertInto('chain_heights')
    .values([
      { chain_profile_id: CHAIN, best_height: 4_181_023, grew_at: minutesAgo(0) },
      { chain_profile_id: 'osmosis-test', best_height: 902_114, grew_at: minutesAgo(7) },
    ])
    .execute();
  const waitingId = await insertRollout(db, {
    chain_profile_id: 'osmosis-test',
    binary_name: 'osmosisd',
    strategy: 'canary',
    migration_type: 'breaking',
    status: 'running',
    created_by: 'key:anna',
    two_person_approval: true,
    started_at: minutesAgo(50),
    status_changed_at: minutesAgo(50),
    targets_resolved_at: minutesAgo(50),
    total_nodes: 12,
    succeeded_nodes: 2,
    pending_nodes: 10,
    last_decision: json({ kind: 'wait', until: null, reasons: [needsApproval] }),
  });
  await insertRollout(db, { chain_profile_id: 'noble', binary_name: 'nobled', status: 'completed', total_nodes: 4 });
  const states = ['healthy', 'healthy', 'healthy', 'syncing', 'degraded', 'down'] as const;
  for (let index = 0; index < 400; index += 1) {
    const state = states[index % states.length] ?? 'healthy';
    const name = `full-${String(index).padStart(4, '0')}`;
    await insertNode(db, { name, chain_profile_id: 'osmosis-test', node_type: 'full', state });
  }
  return waitingId;
}

/** A rule of each kind; the freeze stands, and holds some nodes of the rollout under way. */
async function insertPolicies(db: Database): Promise<void> {
  const [from, to] = [minutesAgo(30).toISOString(), minutesAgo(-3 * 1440).toISOString()];
  await insertPolicy(db, 'freeze', 'payout', {
    scope: { chains: [CHAIN], labels: { zone: 'eu-north' } },
    from,
    to,
    reason: 'payout week',
  });
  await insertPolicy(db, 'disruption_budget', 'one-quarter', { per: 'zone', max_unavailable: '25%' });
  await insertPolicy(db, 'maintenance_window', 'nights', {
    scope: { chains: ['osmosis-test'] },
    time_zone: 'Europe/Berlin',
    weekly: [{ days: ['mon', 'tue', 'wed', 'thu'], from: '22:00', to: '04:00' }],
  });
}

async function insertExampleGroup(db: Database): Promise<string> {
  const chain = { chain_profile_id: 'ethereum-hoodi' };
  const node = await insertNode(db, { name: 'hoodi-1', ...chain, runningChecksum: null });
  await insertGroupComponents(db, node);
  const waiting = reason('component_running', { binary: 'execution', component: 1, of: 2 });
  return insertGroup(db, {
    ...chain,
    status: 'running',
    last_decision: json({ kind: 'wait', until: null, reasons: [waiting] }),
  });
}

/** Every host and the chain are heard of this moment, however long a test has taken so far. */
export async function keepAlive(db: Database): Promise<void> {
  await db.updateTable('nodes').set({ last_heartbeat_at: new Date() }).execute();
  await db.updateTable('chain_heights').set({ grew_at: new Date() }).where('chain_profile_id', '=', CHAIN).execute();
}
