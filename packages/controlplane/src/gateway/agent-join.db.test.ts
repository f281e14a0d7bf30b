import { randomUUID } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { GoAway_Reason } from '@hoodcloud/contracts/wire/agent-v1';
import { insertNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hashAgentSecret } from './agent-secret.ts';
import type { Gateway } from './gateway.ts';
import { GatewayFixture } from './testing/gateway-fixture.ts';
import { joinAt, WireAgent } from './testing/wire-agent.ts';

let fixture: GatewayFixture;
let gateway: Gateway;
beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway();
});
afterAll(() => fixture.dispose());

async function tokenFor(nodeId: string, lifetimeMs = 60_000): Promise<string> {
  const token = `hcjoin_${randomUUID()}`;
  const expires_at = new Date(Date.now() + lifetimeMs);
  const row = { node_id: nodeId, token_hash: hashAgentSecret(token), created_by: 'key:test', expires_at };
  await fixture.db.insertInto('join_tokens').values(row).execute();
  return token;
}

it('exchanges a join token for a credential that opens a stream, and tells it as an event', async () => {
  const nodeId = await insertNode(fixture.db, { joined_at: null });
  const joined = await joinAt(gateway.address, await tokenFor(nodeId));
  expect(joined.nodeId).toBe(nodeId);
  await fixture.agent(gateway.address, joined.credential);
  const node = await fixture.db.selectFrom('nodes').selectAll().where('id', '=', nodeId).executeTakeFirstOrThrow();
  expect(node.joined_at).not.toBeNull();
  const events = await fixture.db.selectFrom('events').select('kind').where('node_id', '=', nodeId).execute();
  expect(events).toEqual([{ kind: 'node_joined' }]);
});

it('stores only the hash of a credential', async () => {
  const nodeId = await insertNode(fixture.db);
  const { credential } = await joinAt(gateway.address, await tokenFor(nodeId));
  const rows = await fixture.db.selectFrom('agent_credentials').selectAll().where('node_id', '=', nodeId).execute();
  expect(rows.map((row) => row.secret_hash.toString('hex'))).toEqual([hashAgentSecret(credential).toString('hex')]);
});

it.each([
  ['unknown', async () => 'hcjoin_never_made', /join token is unknown: make a new one with `hoodctl node join-token/],
  ['expired', async (nodeId: string) => tokenFor(nodeId, -1000), /has expired at .*make a new one/],
  ['empty', async () => '', /join_token is empty/],
])('refuses a token that is %s, saying what to do, and makes no credential', async (_, token, sentence) => {
  const nodeId = await insertNode(fixture.db);
  await expect(joinAt(gateway.address, await token(nodeId))).rejects.toThrow(sentence);
  const credentials = await fixture.db.selectFrom('agent_credentials').where('node_id', '=', nodeId).execute();
  expect(credentials).toEqual([]);
});

it('gives one credential for one token when it is used many times at once', async () => {
  const nodeId = await insertNode(fixture.db);
  const token = await tokenFor(nodeId);
  const tries = await Promise.allSettled(Array.from({ length: 8 }, () => joinAt(gateway.address, token)));
  expect(tries.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
  const refused = tries.find((one) => one.status === 'rejected');
  expect(String(refused?.reason)).toMatch(/was used already .* good for one join: make a new one/);
  expect(refused?.reason.code).toBe(status.UNAUTHENTICATED);
});

it('revokes the old credential and ends its stream when the node joins anew', async () => {
  const { nodeId, credential } = await fixture.joinedNode();
  const old = await fixture.agent(gateway.address, credential);
  await joinAt(gateway.address, await tokenFor(nodeId));
  expect((await old.goAway()).reason).toBe(GoAway_Reason.CREDENTIAL_REVOKED);
  const again = WireAgent.dial(gateway.address, credential);
  again.hello();
  expect(await again.ended()).toMatchObject({
    code: status.UNAUTHENTICATED,
    details: expect.stringMatching(/was revoked when the node joined anew/),
  });
});

it.each(['terminated', 'failed', 'terminating'] as const)('lets no agent join a node that is %s', async (state) => {
  const nodeId = await insertNode(fixture.db, { state });
  const token = await tokenFor(nodeId);
  await expect(joinAt(gateway.address, token)).rejects.toMatchObject({ code: status.FAILED_PRECONDITION });
});

it.each([
  ['no credential', null, /no credential/],
  ['an unknown one', 'hcagent_unknown', /credential is unknown: make a join token/],
])('refuses a stream with %s', async (_, credential, sentence) => {
  const agent = WireAgent.dial(gateway.address, credential);
  agent.hello();
  expect(await agent.ended()).toMatchObject({
    code: status.UNAUTHENTICATED,
    details: expect.stringMatching(sentence),
  });
});
