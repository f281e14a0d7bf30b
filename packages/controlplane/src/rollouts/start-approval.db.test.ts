import type { ApprovalView } from '@hoodcloud/contracts/http/approvals';
import type { ChainView } from '@hoodcloud/contracts/http/chains';
import type { Problem } from '@hoodcloud/contracts/http/problem';
import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { checksumOf, insertNode, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createApiKey } from '../auth/api-keys.ts';
import { ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';
import { ChainFiles } from '../manifests/chain-files.ts';
import { storeControlsByHand } from './controls-by-hand.ts';
import { updateRolloutProgress } from './rollout-progress.ts';
import { isTrustedRelease } from './trusted-release.ts';

const MANIFEST = `upgrade_id: v2
chain_profile_id: testchain
node_type: validator
binary_name: cometbft
target_version: v2.0.0
target_url: https://github.com/org/demo/v2
target_checksum: ${checksumOf('b')}
`;
const ORDER = { chain_profile_id: 'testchain', node_type: 'validator', upgrade_id: 'v2', strategy: 'rolling' };

let api: ApiFixture;
let node: string;
const keys: Record<string, string> = {};
beforeAll(async () => {
  api = await ApiFixture.create();
  await api.writeConfig('testchain/runtime.yaml', 'runtime: { type: process }\n');
  await api.writeConfig('upgrades/testchain/v2.yaml', MANIFEST);
  node = await insertNode(api.database.db);
  for (const [name, createdBy] of [
    ['alice', 'system:command-line'],
    ['alices-other', 'key:alice'],
    ['bob', 'system:command-line'],
  ] as const) {
    const scopes = ['read', 'operate', 'admin'] as const;
    keys[name] = (await createApiKey(api.database.db, { name, createdBy, scopes: [...scopes] })).key;
  }
});
beforeEach(async () => {
  await api.database.pool.query('truncate active_chains, rollouts, events cascade');
  await demand('two_persons');
});
afterAll(() => api.dispose());

const demand = (approvals: string | null) =>
  api.writeConfig(
    'testchain/profile.yaml',
    `${TEST_PROFILE}trust: {${approvals ? ` approvals: ${approvals} ` : ''}}\n`,
  );
const as = (who: string) => ({ authorization: `Bearer ${keys[who]}` });
const approve = (id: string, who: string) => api.call<Problem>('POST', `/rollouts/${id}/approve`, {}, as(who));

/** Created by alice, started, its node's turn; nobody has approved it. */
async function started(): Promise<string> {
  const { body } = await api.call<RolloutDetail>('POST', '/rollouts', ORDER, as('alice'));
  const running = { status: 'running', started_at: new Date(), targets_resolved_at: new Date() } as const;
  await api.database.db.updateTable('rollouts').set(running).where('id', '=', body.id).execute();
  await insertRolloutNode(api.database.db, body.id, node);
  return body.id;
}

/** What the engine is told to do. */
async function decided(id: string): Promise<string[]> {
  const chains = new ChainFiles(() => api.configDir);
  await updateRolloutProgress(api.database.db, chains, id, []);
  const { kind, reasons } = (await row(id)).last_decision as { kind: string; reasons: { code: string }[] };
  return kind === 'wait' ? reasons.map(({ code }) => code) : [kind];
}

const row = (id: string) =>
  api.database.db.selectFrom('rollouts').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

describe('a chain that demands two persons', () => {
  it('holds the first node until somebody else than the creator has approved', async () => {
    const id = await started();
    expect(await decided(id)).toEqual(['start_approval_needed']);
    for (const who of ['alice', 'alices-other']) {
      const refused = await approve(id, who);
      expect(refused).toMatchObject({ status: 409, body: { details: { reason: 'second_person_needed' } } });
    }
    expect(await decided(id)).toEqual(['start_approval_needed']);
    expect((await approve(id, 'bob')).status).toBe(200);
    expect(await decided(id)).toEqual(['run']);
    expect(await approve(id, 'bob')).toMatchObject({
      status: 409,
      body: { details: { reason: 'approval_not_needed' } },
    });
  });

  it('says who may, in the rollout, the approvals, the plan, the chain and an event told once (field-case 112)', async () => {
    const id = await started();
    await decided(id);
    await decided(id);
    const { body } = await api.call<RolloutDetail>('GET', `/rollouts/${id}`);
    expect(body).toMatchObject({ start_approval: true, why: [{ code: 'start_approval_needed' }] });
    expect(body.why[0]?.sentence).toContain('but not key:alice, who created the rollout');
    expect(body.legal_controls).toContain('approve_canary');
    const waiting = async (who: string) =>
      (await api.call<{ items: ApprovalView[] }>('GET', '/approvals', undefined, as(who))).body.items;
    expect(await waiting('bob')).toMatchObject([{ needs: 'approve', two_person_approval: true, refusal: null }]);
    expect((await waiting('alice'))[0]?.refusal).toContain('key:alice is no second person');
    const plan = await api.call<RolloutPlanView>('POST', '/rollouts/plan', ORDER);
    expect(plan.body.warnings).toContainEqual(expect.stringContaining('(trust.approvals): somebody else than who'));
    const chain = await api.call<ChainView>('GET', '/chains/testchain');
    expect(chain.body.trust?.approvals).toBe('two_persons');
    const told = await api.database.db
      .selectFrom('events')
      .selectAll()
      .where('kind', '=', 'rollout_waiting_for_approval')
      .execute();
    expect(told).toMatchObject([{ rollout_id: id, reason: 'start_approval_needed' }]);
  });

  it('who approves twice by one person is one person, whatever the rows say', async () => {
    const id = await started();
    const by = (actor: string) => ({ rollout_id: id, kind: 'approve_canary' as const, actor });
    const said = [by('key:alice'), by('key:alices-other'), by('signal:temporal')];
    await api.database.db.insertInto('rollout_controls').values(said).execute();
    expect(await decided(id)).toEqual(['start_approval_needed']);
    await api.database.db.insertInto('rollout_controls').values(by('user:carol')).execute();
    expect(await decided(id)).toEqual(['run']);
  });

  it('a signal sent to the workflow by hand approves nothing', async () => {
    const id = await started();
    const control = { id: '33333333-3333-4333-8333-333333333333', kind: 'approve_canary' } as const;
    await storeControlsByHand(api.database.db, await row(id), [control]);
    expect(await decided(id)).toEqual(['start_approval_needed']);
  });

  it('nothing reaches a host ahead either', async () => {
    const id = await started();
    const trusted = async () =>
      isTrustedRelease(api.database.db, new ChainFiles(() => api.configDir), await row(id), new Date());
    expect(await trusted()).toBe(false);
    await approve(id, 'bob');
    expect(await trusted()).toBe(true);
  });

  it('is asked at creation: what was demanded then is due though the profile demands it no longer', async () => {
    const id = await started();
    await demand(null);
    expect(await decided(id)).toEqual(['start_approval_needed']);
    expect((await approve(id, 'alice')).status).toBe(409);
    expect((await approve(id, 'bob')).status).toBe(200);
    expect(await decided(id)).toEqual(['run']);
  });

  it('is asked before the first node: what the profile demands by then is due though it was not at creation', async () => {
    await demand(null);
    const id = await started();
    expect(await row(id)).toMatchObject({ start_approval: false });
    await demand('two_persons');
    expect(await decided(id)).toEqual(['start_approval_needed']);
    expect((await approve(id, 'alice')).status).toBe(409);
    expect((await approve(id, 'bob')).status).toBe(200);
    expect(await decided(id)).toEqual(['run']);
  });
});

it('a word that is no demand is refused where it stands', async () => {
  await demand('three_persons');
  const { status, body } = await api.call<Problem>('POST', '/rollouts', ORDER, as('alice'));
  expect(status).toBe(422);
  expect(JSON.stringify(body)).toContain('testchain/profile.yaml');
});
