import { createHash } from 'node:crypto';
import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { CreateRolloutInput } from '@hoodcloud/contracts/http/rollout-requests';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { checksumOf, insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createApiKey } from '../auth/api-keys.ts';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';

const PATH = '/etc/node/config.toml';
const TEMPLATE = `moniker = "{{ .node_name }}"
peers = {{ .max_peers }}
[rpc]
auth = "{{ .rpc_user }}:{{ .rpc_credential }}"
header = {{ printf "%q" .seed_words }}
hex = {{ printf "%x" .rpc_credential }}
`;
const NODE_VARIABLES = { rpc_user: 'op', rpc_credential: 'hunter2hunter2', seed_words: 'abandon ability able' };
const SECRETS = [NODE_VARIABLES.rpc_credential, NODE_VARIABLES.seed_words];

let api: ApiFixture;
let releases: ArtifactServer;
const nodes: string[] = [];
beforeAll(async () => {
  releases = await ArtifactServer.listen();
  releases.publish('v2', Buffer.alloc(2 * 1024 * 1024));
  api = await ApiFixture.create();
  for (const name of ['val-1', 'val-2', 'val-3']) {
    const labels = JSON.stringify({ zone: name === 'val-3' ? 'us' : 'eu' });
    nodes.push(await insertNode(api.database.db, { name, labels, variables: JSON.stringify(NODE_VARIABLES) }));
  }
});
beforeEach(async () => {
  await api.database.pool.query('truncate active_chains; delete from rollout_nodes; delete from rollouts');
  await api.database.pool.query('update nodes set last_heartbeat_at = now()');
  await api.database.pool.query(`update node_components set config_checksums = '{}'`);
  await api.database.pool.query(`update node_config_state set config_hashes = '{}'`);
  await api.writeConfig('testchain/profile.yaml', `${TEST_PROFILE}secret_variables: [seed_words]\n`);
  await api.writeConfig('testchain/templates/config.tmpl', TEMPLATE);
  await writeManifest();
});
afterAll(async () => {
  await api.dispose();
  await releases.close();
});

const url = () => `${releases.origin}/v2`;

async function writeManifest(overrides = '{}', artifact = url()): Promise<void> {
  await api.writeConfig(
    'upgrades/testchain/v2.yaml',
    `upgrade_id: v2
chain_profile_id: testchain
node_type: validator
binary_name: cometbft
target_version: v2.0.0
target_url: ${artifact}
target_checksum: ${checksumOf('b')}
config_changes: [{ path: ${PATH}, template: config.tmpl, overrides: ${overrides} }]
`,
  );
}

const AUTO: CreateRolloutInput = {
  chain_profile_id: 'testchain',
  node_type: 'validator',
  upgrade_id: 'v2',
  strategy: 'rolling',
  batch_size: 2,
};
const plan = async (body: object = AUTO, headers = {}) => {
  const answer = await api.call<RolloutPlanView>('POST', '/rollouts/plan', body, headers);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};

const hashOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const hexOf = (text: string) => Buffer.from(text).toString('hex');
/** What the template gives for a node. */
const written = (name: string, peers: string, credential = NODE_VARIABLES.rpc_credential) =>
  TEMPLATE.replace('{{ .node_name }}', name)
    .replace('{{ .max_peers }}', peers)
    .replace('{{ .rpc_user }}', NODE_VARIABLES.rpc_user)
    .replace('{{ .rpc_credential }}', credential)
    .replace('{{ printf "%q" .seed_words }}', JSON.stringify(NODE_VARIABLES.seed_words))
    .replace('{{ printf "%x" .rpc_credential }}', hexOf(credential));

async function agentSees(index: number, text: string): Promise<void> {
  await api.database.db
    .updateTable('node_components')
    .set({ config_checksums: JSON.stringify({ [PATH]: hashOf(text) }) })
    .where('node_id', '=', nodes[index] ?? '')
    .execute();
}

/** A rollout that wrote the config with ten peers on every node. */
async function earlierRollout(overrides = '{}'): Promise<void> {
  await writeManifest(overrides);
  const { body } = await api.call<RolloutDetail>('POST', '/rollouts', AUTO);
  await api.database.db
    .updateTable('rollouts')
    .set({ status: 'completed', started_at: new Date() })
    .where('id', '=', body.id)
    .execute();
  await api.database.pool.query('truncate active_chains');
}

describe('the config diff of a plan', () => {
  it('shows the lines that change, from what an earlier rollout wrote, once for all nodes that are alike', async () => {
    await earlierRollout();
    for (const [index, name] of ['val-1', 'val-2', 'val-3'].entries()) await agentSees(index, written(name, '10'));
    await writeManifest('{ max_peers: "40" }');
    const { config_diffs } = await plan();
    expect(config_diffs.map(({ nodes: on }) => on.map(({ node_name }) => node_name))).toEqual([
      ['val-1'],
      ['val-2'],
      ['val-3'],
    ]);
    expect(config_diffs[0]).toMatchObject({ path: PATH, change: 'changed', edited_on_host: false, remark: null });
    expect(config_diffs[0]?.diff).toBe(`--- ${PATH}\tnow
+++ ${PATH}\tplanned
@@ -1,6 +1,6 @@
 moniker = "val-1"
-peers = 10
+peers = 40
 [rpc]
 auth = "op:<secret rpc_credential>"
 header = "<secret seed_words>"
 hex = ${Buffer.from('<secret rpc_credential>').toString('hex')}
`);
  });

  it('never shows a secret, whatever the template makes of it, and tells when one changes (C12)', async () => {
    await earlierRollout();
    await agentSees(0, written('val-1', '10'));
    const rotated = 'another-secret-value';
    await writeManifest(`{ rpc_credential: "${rotated}" }`);
    const view = await plan();
    const [changed, unseen] = view.config_diffs;
    expect(changed?.diff).toContain(
      '-auth = "op:<secret rpc_credential>"\n+auth = "op:<secret rpc_credential, new value>"',
    );
    expect(unseen?.change).toBe('unseen');
    for (const secret of [...SECRETS, rotated]) {
      expect(JSON.stringify(view)).not.toContain(secret);
      expect(JSON.stringify(view)).not.toContain(hexOf(secret));
    }
    // with everything else known, a weak secret could be guessed from a hash
    expect(changed).toMatchObject({ current_checksum: null, planned_checksum: null });
  });

  it('says so, with both hashes, where the content on the host is not known (E4)', async () => {
    await earlierRollout();
    await api.database.pool.query('update node_config_state set config_hashes = $1', [
      JSON.stringify({ [PATH]: hashOf(written('val-1', '10')) }),
    ]);
    await agentSees(0, 'edited by hand\n');
    const view = await plan({ ...AUTO, node_ids: [nodes[0]] });
    expect(view.config_diffs).toEqual([
      {
        path: PATH,
        change: 'changed',
        nodes: [{ node_id: nodes[0], node_name: 'val-1' }],
        current_checksum: hashOf('edited by hand\n'),
        planned_checksum: hashOf(written('val-1', '10')),
        edited_on_host: true,
        diff: null,
        remark: expect.stringContaining('is not known here'),
      },
    ]);
    expect(view.warnings).toContain(`${PATH} was edited on val-1: the upgrade fails there before anything is stopped.`);
  });

  it('is no diff where nothing would change', async () => {
    await agentSees(0, written('val-1', '10'));
    const view = await plan({ ...AUTO, node_ids: [nodes[0]] });
    expect(view.config_diffs).toMatchObject([{ change: 'unchanged', diff: null }]);
  });
});

describe('the artifact of a plan', () => {
  it('is asked for by HEAD: how large it is', async () => {
    expect((await plan()).artifact_checks).toEqual([
      { platform: null, url: url(), checksum: checksumOf('b'), state: 'reachable', size_bytes: 2097152, remark: null },
    ]);
    expect(releases.requests.at(-1)).toMatchObject({ method: 'HEAD', path: '/v2' });
  });

  it.each([
    ['is not there', () => `${releases.origin}/gone`, 'refused', /answered 404/],
    ['can not be reached', () => 'http://127.0.0.1:1/v2', 'unreachable', /Not reachable from here \(.+\)/],
  ])('that %s is a warning, no violation', async (_, address, state, remark) => {
    await writeManifest('{}', address());
    const { artifact_checks, warnings, violations } = await plan();
    expect(artifact_checks).toMatchObject([{ state, size_bytes: null, remark: expect.stringMatching(remark) }]);
    expect(warnings.join('\n')).toMatch(remark);
    expect(violations).toEqual([]);
  });

  it('is not asked for at an address that somebody names who may only look', async () => {
    const manual = {
      ...AUTO,
      upgrade_id: undefined,
      binary_name: 'cometbft',
      source_version: 'v1.0.0',
      target_version: 'v2.0.0',
      target_binary_url: url(),
      target_binary_checksum: checksumOf('b'),
      manifest_content_hash: checksumOf('c'),
    };
    const { key } = await createApiKey(api.database.db, { name: 'reader', createdBy: 'system:test', scopes: ['read'] });
    const asked = releases.requests.length;
    const reader = await plan(manual, { authorization: `Bearer ${key}` });
    expect(reader.artifact_checks).toMatchObject([{ state: 'not_asked' }]);
    expect(releases.requests.length).toBe(asked);
    expect((await plan(manual)).artifact_checks).toMatchObject([{ state: 'reachable' }]);
  });
});

describe('what a plan expects', () => {
  it('is said to be unknown without past rollouts', async () => {
    const { estimate } = await plan();
    expect(estimate).toEqual({ past_upgrades: 0, node_ms: null, downtime_ms: null, rollout_ms: null });
  });

  it('are medians of succeeded upgrades of the same binary on the same chain, with the wait of this one', async () => {
    const past = { status: 'completed' as const, started_at: new Date(), health_wait_ms: 1000 };
    const same = await insertRollout(api.database.db, past);
    const other = await insertRollout(api.database.db, { ...past, binary_name: 'other' });
    const took = (rollout: string, index: number, duration_ms: number, downtime_ms: number, status = 'succeeded') =>
      insertRolloutNode(api.database.db, rollout, nodes[index] ?? '', {
        status: status as 'succeeded',
        attempt_count: 1,
        duration_ms,
        downtime_ms,
        ended_at: new Date(),
      });
    await took(same, 0, 11_000, 2000);
    await took(same, 1, 21_000, 4000);
    await took(same, 2, 900_000, 900_000, 'failed');
    await took(other, 0, 900_000, 900_000);
    const { estimate } = await plan({ ...AUTO, health_wait_ms: 5000 });
    // 15 s of work and 5 s of watching a node, two batches
    expect(estimate).toEqual({ past_upgrades: 2, node_ms: 20_000, downtime_ms: 3000, rollout_ms: 40_000 });
  });

  it('is how much of the fleet and of each zone is down at once, and warns when it is over a third', async () => {
    const { shares, warnings } = await plan({ ...AUTO, strategy: 'all_at_once' });
    expect(shares).toEqual([
      { measure: 'nodes', zone: null, batch_index: 0, down: 3, total: 3 },
      { measure: 'nodes', zone: 'eu', batch_index: 0, down: 2, total: 2 },
      { measure: 'nodes', zone: 'us', batch_index: 0, down: 1, total: 1 },
    ]);
    expect(warnings).toEqual([
      'Batch 0 takes 3 of 3 nodes of this chain and type down at once (100 %).',
      'Batch 0 takes 2 of 2 nodes in zone eu down at once (100 %).',
    ]);
    const one = await plan({ ...AUTO, batch_size: 1 });
    expect(one.warnings.filter((warning) => warning.includes('of this chain'))).toEqual([]);
  });
});
