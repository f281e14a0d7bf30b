import type { Problem } from '@hoodcloud/contracts/http/problem';
import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { CreateRolloutInput } from '@hoodcloud/contracts/http/rollout-requests';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { checksumOf, insertNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';

const MANIFEST = `upgrade_id: v2
chain_profile_id: testchain
node_type: validator
binary_name: cometbft
target_version: v2.0.0
target_url: https://example.org/v2.0.0
target_checksum: ${checksumOf('b')}
`;
const AUTO: CreateRolloutInput = {
  chain_profile_id: 'testchain',
  node_type: 'validator',
  upgrade_id: 'v2',
  strategy: 'rolling',
};
const MANUAL: CreateRolloutInput = {
  chain_profile_id: 'testchain',
  node_type: 'validator',
  binary_name: 'cometbft',
  source_version: 'v1.0.0',
  target_version: 'v2.0.0',
  target_binary_url: 'https://example.org/v2.0.0',
  target_binary_checksum: checksumOf('b'),
  manifest_content_hash: checksumOf('c'),
  strategy: 'rolling',
};

let api: ApiFixture;
beforeAll(async () => {
  api = await ApiFixture.create();
  await api.writeConfig('testchain/runtime.yaml', 'runtime: { type: process }\n');
  for (const _ of [1, 2, 3]) await insertNode(api.database.db);
});
beforeEach(async () => {
  await api.writeConfig('testchain/profile.yaml', TEST_PROFILE);
  await api.writeConfig('upgrades/testchain/v2.yaml', MANIFEST);
  await api.database.pool.query('truncate active_chains; delete from rollouts');
});
afterAll(() => api.dispose());

const create = (body: object, headers = {}) => api.call<RolloutDetail>('POST', '/rollouts', body, headers);
const refused = (body: object) => api.call<Problem>('POST', '/rollouts', body);
const plan = async (body: object) => (await api.call<RolloutPlanView>('POST', '/rollouts/plan', body)).body;

async function count(): Promise<number> {
  return (await api.database.db.selectFrom('rollouts').select('id').execute()).length;
}

describe('auto mode', () => {
  it('fills what the upgrade is from the manifest, and waits as long as the chain says', async () => {
    const { status, body } = await create(AUTO);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      status: 'pending',
      upgrade_id: 'v2',
      binary_name: 'cometbft',
      source_version: null,
      target_version: 'v2.0.0',
      target_binary_checksum: checksumOf('b'),
      health_wait_ms: 7000,
      manifest_content_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      manifest_drift: 'unchanged',
      created_by: 'key:test',
    });
  });

  it('shows a manifest that changed since, and keeps what it stored (E3)', async () => {
    const { body } = await create(AUTO);
    await api.writeConfig('upgrades/testchain/v2.yaml', MANIFEST.replace('v2.0.0\n', 'v2.0.1\n'));
    const after = await api.call<RolloutDetail>('GET', `/rollouts/${body.id}`);
    expect(after.body).toMatchObject({ manifest_drift: 'changed', target_version: 'v2.0.0' });
  });

  it('refuses what contradicts the manifest', async () => {
    const { status, body } = await refused({ ...AUTO, target_version: 'v3', node_type: 'full' });
    expect(status).toBe(422);
    expect(body.errors?.map(({ field, code }) => [field, code])).toEqual(
      expect.arrayContaining([
        ['target_version', 'given_by_manifest'],
        ['node_type', 'node_type_mismatch'],
      ]),
    );
  });

  it.each([
    ['a typo in a field name', MANIFEST.replace('target_url', 'targt_url'), 'v2.yaml:6:1: unknown field "targt_url"'],
    [
      'a mutable checksum',
      MANIFEST.replace(/sha256:b+/, 'latest'),
      'v2.yaml:7:18: "target_checksum": must be "sha256:"',
    ],
    [
      'a plain artifact beside those by platform',
      `${MANIFEST}artifacts: { linux/amd64: { url: https://example.org/x, checksum: ${checksumOf('d')} } }\n`,
      '"target_url": is given for each platform in "artifacts": leave it out',
    ],
    [
      'a member that leads out',
      `${MANIFEST}target_member: ../node\n`,
      '"target_member": must be the name of a file inside',
    ],
    ['no checksum', MANIFEST.replace(/target_checksum.*\n/, ''), '"target_checksum": is missing'],
  ])('refuses a manifest with %s, names file and line, and creates nothing', async (_, text, message) => {
    await api.writeConfig('upgrades/testchain/v2.yaml', text);
    const { status, body } = await refused(AUTO);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'file_format' });
    expect(body.errors?.map((error) => error.message).join('\n')).toContain(message);
    expect(await count()).toBe(0);
  });

  it('refuses an upgrade that has no manifest', async () => {
    const { status, body } = await refused({ ...AUTO, upgrade_id: 'gone' });
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'config_file_not_found' });
    expect(body.detail).toContain('upgrades/testchain/gone.yaml is not in the config folder');
  });
});

describe('the creation-time rules', () => {
  it('create a manual rollout that breaks none', async () => {
    expect((await create(MANUAL)).status).toBe(201);
  });

  it.each<[string, object, (number | string | undefined)[], string[]]>([
    ['1: no checksum', { target_binary_checksum: '' }, [1], ['target_binary_checksum']],
    ['1: a checksum that is none', { target_binary_checksum: 'latest' }, [1], ['target_binary_checksum']],
    ['4: the same version', { target_version: 'v1.0.0' }, [4], ['target_version']],
    ['6: no manifest hash', { manifest_content_hash: '' }, [6], ['manifest_content_hash']],
    [
      '7: a breaking migration without its guards',
      { migration_type: 'breaking' },
      [7, 7, 7],
      ['recovery_plan', 'strategy', 'acknowledge_state_risk'],
    ],
    ['numbers that never bite', { min_attempted: 9 }, ['range'], ['min_attempted']],
    ['canaries that leave none to protect', { strategy: 'canary', canary_size: 3 }, ['range'], ['canary_size']],
    ['no target in manual mode', { target_version: undefined }, [undefined], ['target_version']],
    ['an unknown binary', { binary_name: 'geth' }, [undefined], ['binary_name']],
    ['a node that is not there', { node_ids: ['11111111-1111-4111-8111-111111111111'] }, [undefined], ['node_ids.0']],
  ])('refuse rule %s', async (_, change, rules, fields) => {
    const { status, body } = await refused({ ...MANUAL, ...change });
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'rollout_rules' });
    expect(body.errors?.map(({ rule }) => rule)).toEqual(rules);
    expect(body.errors?.map(({ field }) => field)).toEqual(fields);
    expect(await count()).toBe(0);
  });

  it.each([
    ['2: an image without the digest prefix', { target_binary_checksum: 'b'.repeat(64) }, 2],
    ['3: a mutable tag', { target_binary_url: 'registry.example.org/node:latest' }, 3],
  ])('refuse rule %s for images', async (_, change, rule) => {
    await api.writeConfig(
      'testchain/profile.yaml',
      TEST_PROFILE.replace('- name: cometbft', '- name: cometbft\n    artifact_kind: image'),
    );
    const image = { ...MANUAL, target_binary_url: `registry.example.org/node@${checksumOf('b')}`, ...change };
    const { body } = await refused(image);
    expect(body.errors?.map((error) => error.rule)).toContain(rule);
  });

  it('are all named at once, with the active rollout among them', async () => {
    await create(MANUAL);
    const { status, body } = await refused({ ...MANUAL, target_version: 'v1.0.0', target_binary_checksum: '' });
    expect(status).toBe(422);
    expect(body.errors?.map(({ rule }) => rule)).toEqual([1, 4, 5]);
  });

  it('let a config-only upgrade keep its version (E6)', async () => {
    await api.writeConfig('testchain/templates/c.tmpl', 'max = {{ .max_peers }}\n');
    const config_changes = [{ path: '/etc/c.toml', template: 'c.tmpl' }];
    expect((await create({ ...MANUAL, target_version: 'v1.0.0', config_changes })).status).toBe(201);
  });

  it('refuse a config that no command could carry to an agent, and name its field', async () => {
    await api.writeConfig('testchain/templates/xs.tmpl', 'x'.repeat(4_200_000));
    const config_changes = [{ path: '/etc/c.toml', template: 'xs.tmpl' }];
    const { status, body } = await refused({ ...MANUAL, config_changes });
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'rollout_rules' });
    expect(body.errors).toEqual([
      { field: 'config_changes.0', code: 'too_large', message: expect.stringContaining('a command carries 3.9 MB') },
    ]);
    expect(await count()).toBe(0);
  });

  it('see the source in auto mode too, where all nodes have one version (E5)', async () => {
    await api.writeConfig(
      'upgrades/testchain/v2.yaml',
      MANIFEST.replace('target_version: v2.0.0', 'target_version: v1.0.0'),
    );
    expect((await refused(AUTO)).body.errors?.map(({ rule }) => rule)).toEqual([4]);
  });
});

describe('one active rollout a chain (rule 5)', () => {
  it("is a conflict that names the other's id (field-case 85)", async () => {
    const { body: first } = await create(MANUAL);
    const { status, body } = await refused(MANUAL);
    expect({ status, code: body.code, details: body.details }).toEqual({
      status: 409,
      code: 'rollout_active',
      details: { rollout_id: first.id },
    });
  });

  it('holds when several are created at the same moment', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => create(MANUAL)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect(await count()).toBe(1);
  });

  it('is not in the way of the same request sent again with its key', async () => {
    const key = { 'idempotency-key': 'create-once' };
    const first = await create(MANUAL, key);
    const again = await create(MANUAL, key);
    expect([again.status, again.body.id]).toEqual([201, first.body.id]);
  });
});

describe('config changes', () => {
  beforeEach(() =>
    api.writeConfig(
      'upgrades/testchain/v2.yaml',
      `${MANIFEST}config_changes:\n  - { path: /etc/c.toml, template: c.tmpl, overrides: { max_peers: "99" } }\n`,
    ),
  );

  it('keep template, variables and overrides as they were (E3)', async () => {
    await api.writeConfig('testchain/templates/c.tmpl', 'max = {{ .max_peers }}\n');
    const { body } = await create(AUTO);
    const row = await api.database.db
      .selectFrom('rollouts')
      .select('config_changes')
      .where('id', '=', body.id)
      .executeTakeFirst();
    expect(row?.config_changes).toEqual([
      {
        path: '/etc/c.toml',
        template: 'c.tmpl',
        text: 'max = {{ .max_peers }}\n',
        variables: { max_peers: '10' },
        overrides: { max_peers: '99' },
        secret_variables: [],
      },
    ]);
  });

  it('are refused when a variable is missing, with template, line and column', async () => {
    await api.writeConfig('testchain/templates/c.tmpl', 'a = 1\npeers = {{ .persistent_peers }}\n');
    const { status, body } = await refused(AUTO);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'template' });
    expect(body.detail).toContain('c.tmpl:2:11');
    expect(await count()).toBe(0);
  });

  it('are refused when the template is not there', async () => {
    await api.writeConfig(
      'upgrades/testchain/v2.yaml',
      `${MANIFEST}config_changes:\n  - { path: /etc/c.toml, template: none.tmpl }\n`,
    );
    const { body } = await refused(AUTO);
    expect(body.errors).toMatchObject([{ field: 'config_changes.0.template', code: 'config_file_not_found' }]);
  });
});

describe('a plan', () => {
  it('shows who goes when, who is left out and why, and changes nothing', async () => {
    const offline = await insertNode(api.database.db, { name: 'offline', last_heartbeat_at: new Date(0) });
    const done = await insertNode(api.database.db, { name: 'done', runningChecksum: checksumOf('b') });
    const view = await plan({ ...AUTO, strategy: 'canary', batch_size: 2 });
    await api.database.db.deleteFrom('nodes').where('id', 'in', [offline, done]).execute();
    expect(view.batches.map(({ canary, nodes }) => [canary, nodes.length])).toEqual([
      [true, 1],
      [false, 2],
    ]);
    expect(view.ineligible.map(({ node_name, reason }) => [node_name, reason.code])).toEqual([
      ['done', 'already_at_target'],
      ['offline', 'agent_offline'],
    ]);
    expect(view).toMatchObject({ sources: [{ version: 'v1.0.0', nodes: 3 }], rollback_tier: 1, failures_allowed: 0 });
    expect(await count()).toBe(0);
  });

  it('is what a dry run answers, with every broken rule', async () => {
    const { status, body } = await api.call<RolloutPlanView>('POST', '/rollouts?dry_run=true', {
      ...MANUAL,
      target_binary_checksum: '',
    });
    expect(status).toBe(200);
    expect(body.violations).toMatchObject([{ rule: 1, field: 'target_binary_checksum' }]);
    expect(await count()).toBe(0);
  });
});

describe('a fleet of several platforms', () => {
  const BY_PLATFORM = MANIFEST.replace(
    /target_url.*\ntarget_checksum.*\n/,
    `artifacts:
  linux/amd64: { url: https://example.org/amd64.tar.gz, checksum: ${checksumOf('d')}, member: bin/node }
  linux/arm64: { url: https://example.org/arm64, checksum: ${checksumOf('e')} }
`,
  );

  it('is one plan: a node without an artifact for its platform is left out with a sentence (field-case 35)', async () => {
    await api.writeConfig('upgrades/testchain/v2.yaml', BY_PLATFORM);
    const odd = await insertNode(api.database.db, { platform: 'linux/riscv64', name: 'odd' });
    const even = await insertNode(api.database.db, { platform: 'linux/arm64', name: 'even' });
    const { body } = await api.call<RolloutPlanView>('POST', '/rollouts/plan', { ...AUTO, node_ids: [odd, even] });
    expect(body.violations).toEqual([]);
    expect(body.artifacts).toMatchObject({ 'linux/arm64': { checksum: checksumOf('e') } });
    expect(body.batches.flatMap(({ nodes }) => nodes.map(({ node_name }) => node_name))).toEqual(['even']);
    expect(body.ineligible).toMatchObject([
      {
        node_name: 'odd',
        reason: {
          sentence: 'The node runs on linux/riscv64, and the upgrade has artifacts for linux/amd64, linux/arm64 only.',
        },
      },
    ]);
  });

  it('is shown with the rollout, whose own fields name the first artifact', async () => {
    await api.writeConfig('upgrades/testchain/v2.yaml', BY_PLATFORM);
    const { body } = await api.call<RolloutDetail>('POST', '/rollouts', AUTO);
    expect(body).toMatchObject({
      target_binary_url: 'https://example.org/amd64.tar.gz',
      artifacts: { 'linux/amd64': { member: 'bin/node' } },
    });
  });
});

describe('signatures that the chain demands', () => {
  const KEY = `RW${'A'.repeat(54)}`;

  it('are missed when the rollout is created, not on a host', async () => {
    await api.writeConfig(
      'testchain/runtime.yaml',
      `runtime: { type: process }\nsignatures: { policy: required, public_keys: [${KEY}] }\n`,
    );
    const { status, body } = await api.call<Problem>('POST', '/rollouts', AUTO);
    expect(status).toBe(422);
    expect(body.errors).toMatchObject([{ field: 'target_artifact_signature', code: 'signature_missing' }]);
    const signed = `${MANIFEST}target_signature: { format: minisign, url: https://example.org/v2.minisig }\n`;
    await api.writeConfig('upgrades/testchain/v2.yaml', signed);
    expect((await api.call('POST', '/rollouts', AUTO)).status).toBe(201);
    await api.writeConfig('testchain/runtime.yaml', 'runtime: { type: process }\n');
  });
});
