import { GoAway_Reason } from '@hoodcloud/contracts/wire/agent-v1';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from './testing/eventually.ts';
import { GatewayFixture } from './testing/gateway-fixture.ts';
import { WireAgent } from './testing/wire-agent.ts';

const AGENTS = 200;

let fixture: GatewayFixture;
beforeEach(async () => {
  fixture = await GatewayFixture.create();
});
afterEach(() => fixture.dispose());

function joinedNodes(count: number) {
  return Promise.all(Array.from({ length: count }, () => fixture.joinedNode()));
}

function openSessions() {
  return fixture.db
    .selectFrom('agent_sessions')
    .select(['node_id', 'gateway_id'])
    .where('ended_at', 'is', null)
    .execute();
}

it(`${AGENTS} agents that come back at once after their gateway stopped are all taken in by another, each once`, async () => {
  const nodes = await joinedNodes(AGENTS);
  const first = await fixture.gateway();
  const before = await Promise.all(nodes.map(({ credential }) => fixture.agent(first.address, credential)));
  const second = await fixture.gateway();
  await first.stop();
  const goodbyes = await Promise.all(before.map((agent) => agent.goAway()));
  expect(new Set(goodbyes.map((goodbye) => goodbye.reason))).toEqual(new Set([GoAway_Reason.SHUTTING_DOWN]));
  const after = await Promise.all(nodes.map(({ credential }) => fixture.agent(second.address, credential)));
  const sessions = await openSessions();
  expect(new Set(sessions.map((session) => session.node_id)).size).toBe(AGENTS);
  expect(sessions.filter((session) => session.gateway_id !== second.gatewayId)).toEqual([]);
  for (const agent of after) agent.heartbeat();
  await eventually(async () => {
    const { count } = await fixture.db
      .selectFrom('node_heartbeats')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    expect(Number(count)).toBe(AGENTS);
  });
});

it('more connects than the gateway admits in a second are sent away to come again, and then come in', async () => {
  const nodes = await joinedNodes(12);
  const gateway = await fixture.gateway({ connectsPerSecond: 5 });
  const dial = (credential: string) => {
    const agent = WireAgent.dial(gateway.address, credential);
    agent.hello();
    return agent;
  };
  const outside = new Map(nodes.map(({ nodeId, credential }) => [nodeId, dial(credential)]));
  const refused: GoAway_Reason[] = [];
  await eventually(async () => {
    for (const { nodeId, credential } of nodes) {
      const agent = outside.get(nodeId);
      if (!agent?.status) continue;
      for (const { message } of agent.heard) if (message.case === 'goAway') refused.push(message.value.reason);
      outside.set(nodeId, dial(credential));
    }
    expect(await openSessions()).toHaveLength(12);
  });
  for (const agent of outside.values()) agent.close();
  expect(refused.length).toBeGreaterThan(0);
  expect(new Set(refused)).toEqual(new Set([GoAway_Reason.OVERLOADED]));
});

it('the window to come back in is that of the whole fleet from the first welcome on, though few are connected yet (B6)', async () => {
  const [first] = await joinedNodes(1);
  await fixture.database.pool.query(
    `with made as (insert into nodes (name, chain_profile_id, node_type)
                   select 'fleet-' || n, 'testchain', 'validator' from generate_series(2, 1000) n returning id)
     insert into agent_credentials (node_id, secret_hash) select id, decode(md5(id::text), 'hex') from made`,
  );
  const gateway = await fixture.gateway();
  const agent = await fixture.agent(gateway.address, first?.credential ?? '');
  expect((await agent.welcome()).reconnectWindowMs).toBe(6_000);
  await gateway.stop();
  expect((await agent.goAway()).reconnectWindowMs).toBe(6_000);
});
