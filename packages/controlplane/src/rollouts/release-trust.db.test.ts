import type { ChainView } from '@hoodcloud/contracts/http/chains';
import type { Problem } from '@hoodcloud/contracts/http/problem';
import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { decideNext } from '@hoodcloud/domain/decide-next';
import type { TrustFacts } from '@hoodcloud/domain/trust/trust-rules';
import { checksumOf, insertNode, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';
import { ChainFiles } from '../manifests/chain-files.ts';
import { orderStaging } from '../staging/order-staging.ts';
import { loadRolloutSnapshot } from './load-rollout-snapshot.ts';

const HOUR = 3_600_000;
const manifest = (more: string, url = 'https://github.com/org/demo/releases/v2') => `upgrade_id: v2
chain_profile_id: testchain
node_type: validator
binary_name: cometbft
target_version: v2.0.0
target_url: ${url}
target_checksum: ${checksumOf('b')}
${more}`;
const ORDER = { chain_profile_id: 'testchain', node_type: 'validator', upgrade_id: 'v2', strategy: 'rolling' };

let api: ApiFixture;
let node: string;
beforeAll(async () => {
  api = await ApiFixture.create();
  node = await insertNode(api.database.db);
});
beforeEach(async () => {
  await api.database.pool.query('truncate active_chains, seen_artifacts, rollouts cascade');
  await api.writeConfig('testchain/runtime.yaml', 'runtime: { type: process }\n');
  await trust('minimum_release_age_hours: 72, allowed_origins: ["https://github.com/org"]');
  await api.writeConfig('upgrades/testchain/v2.yaml', manifest(''));
});
afterAll(() => api.dispose());

const trust = (rules: string) => api.writeConfig('testchain/profile.yaml', `${TEST_PROFILE}trust: { ${rules} }\n`);
const create = () => api.call<RolloutDetail>('POST', '/rollouts', ORDER);
const plan = async () => (await api.call<RolloutPlanView>('POST', '/rollouts/plan', ORDER)).body;

/** What the engine would decide for the rollout now. */
async function decision(id: string, now = Date.now()) {
  const chains = new ChainFiles(() => api.configDir);
  const snapshot = await loadRolloutSnapshot(api.database.db, id, chains, new Date(now), 'whole');
  if (snapshot === null) throw new Error('there is no such rollout');
  const rollout = { ...snapshot.rollout, status: 'running' as const, targetsResolved: true };
  return { facts: snapshot.trust as TrustFacts, next: decideNext({ ...snapshot, rollout }, now) };
}

describe('origins', () => {
  it('an artifact from elsewhere is refused when the rollout is created, and the plan says so', async () => {
    const evil = 'https://github.com.evil.test/org/demo/v2';
    await api.writeConfig('upgrades/testchain/v2.yaml', manifest('', evil));
    const { status, body } = await api.call<Problem>('POST', '/rollouts', ORDER);
    expect(status).toBe(422);
    const message = `${evil} is not from an origin that the chain allows (trust.allowed_origins: https://github.com/org).`;
    expect(body.errors).toEqual([{ field: 'target_binary_url', code: 'origin_not_allowed', message }]);
    expect((await plan()).violations).toEqual([{ field: 'target_binary_url', code: 'origin_not_allowed', message }]);
  });

  it('rules that became stricter since are asked again before the first node', async () => {
    await trust('allowed_origins: ["https://github.com/org"]');
    const { body } = await create();
    await insertRolloutNode(api.database.db, body.id, node);
    expect((await decision(body.id)).next).toMatchObject({ kind: 'run' });
    await trust('allowed_origins: ["https://github.com/other"]');
    expect((await decision(body.id)).next).toMatchObject({ kind: 'wait', reasons: [{ code: 'origin_not_allowed' }] });
    await api.writeConfig('testchain/runtime.yaml', 'runtime: { type: process }\nsignatures: { policy: required }\n');
    expect((await decision(body.id)).next).toMatchObject({ reasons: [{ code: 'signature_demanded' }, {}] });
  });
});

describe('cooldown', () => {
  it('counts from the release, by the word of the manifest', async () => {
    const released = new Date(Date.now() - 71 * HOUR).toISOString();
    await api.writeConfig('upgrades/testchain/v2.yaml', manifest(`released_at: ${released}\n`));
    expect((await plan()).warnings).toContainEqual(expect.stringContaining(`released at ${released}`));
    const { status, body } = await create();
    expect(status).toBe(201);
    await insertRolloutNode(api.database.db, body.id, node);
    const until = Date.parse(released) + 72 * HOUR;
    expect((await decision(body.id)).next).toMatchObject({
      kind: 'wait',
      until,
      reasons: [{ code: 'release_too_young' }],
    });
    expect((await decision(body.id, until)).next).toMatchObject({ kind: 'run' });
  });

  it('counts from the first rollout that named these bytes, whatever became of that one', async () => {
    const first = await create();
    const { firstSeenAt } = (await decision(first.body.id)).facts;
    expect(firstSeenAt).not.toBeNull();
    await api.database.pool.query('truncate active_chains; delete from rollouts');
    await api.writeConfig('upgrades/testchain/v2.yaml', manifest('recovery_plan: another text, the same bytes\n'));
    const again = await create();
    expect((await decision(again.body.id)).facts.firstSeenAt).toBe(firstSeenAt);
    expect((await plan()).warnings).toContainEqual(expect.stringContaining('The release was first seen at'));
  });
});

describe('making ready ahead', () => {
  it('reaches no host before the release is trusted, and is taken back when it no longer is', async () => {
    const { body } = await api.call<RolloutDetail>('POST', '/rollouts', { ...ORDER, stage: true });
    const running = { status: 'running', targets_resolved_at: new Date() } as const;
    await api.database.db.updateTable('rollouts').set(running).where('id', '=', body.id).execute();
    await api.database.db.updateTable('nodes').set({ last_heartbeat_at: new Date() }).execute();
    await insertRolloutNode(api.database.db, body.id, node);
    const stage = async () => {
      const ignored = () => undefined;
      const log = { info: ignored, warn: ignored, error: ignored };
      const sources = { chains: new ChainFiles(() => api.configDir), renderConfigs: async () => new Map() };
      await orderStaging(api.database.db, sources, log, new Date());
      const rows = await api.database.db
        .selectFrom('agent_commands')
        .select('operation')
        .orderBy('created_at')
        .execute();
      return rows.map(({ operation }) => operation);
    };
    expect(await stage()).toEqual([]);
    for (const actor of ['ann', 'bob']) {
      const said = { rule: 'trust/cooldown', actor, reason: 'a fix', expires_at: new Date(Date.now() + HOUR) };
      await api.database.db
        .insertInto('rule_overrides')
        .values({ rollout_id: body.id, ...said })
        .execute();
    }
    expect(await stage()).toEqual(['STAGE']);
    await trust('allowed_origins: ["https://github.com/other"]');
    expect(await stage()).toEqual(['STAGE', 'UNSTAGE']);
  });
});

it('the chain shows what it trusts', async () => {
  const { body } = await api.call<ChainView>('GET', '/chains/testchain');
  const origins = ['https://github.com/org'];
  expect(body.trust).toEqual({ minimum_release_age_hours: 72, allowed_origins: origins, approvals: null });
});

it('an entry that is no origin is refused where it stands', async () => {
  await trust('allowed_origins: ["*.github.com"]');
  const { status, body } = await api.call<Problem>('POST', '/rollouts', ORDER);
  expect(status).toBe(422);
  expect(JSON.stringify(body)).toContain(
    'must be a server and the folder on it, such as https://github.com/cosmos/gaia',
  );
});
