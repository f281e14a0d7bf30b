import { randomUUID } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { GoAway_Reason, RuntimeType } from '@hoodcloud/contracts/wire/agent-v1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from './gateway.ts';
import { eventually } from './testing/eventually.ts';
import { GatewayFixture } from './testing/gateway-fixture.ts';
import { componentReport, WireAgent } from './testing/wire-agent.ts';

let fixture: GatewayFixture;
let gateway: Gateway;
let other: Gateway;
beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway();
  other = await fixture.gateway();
});
afterAll(() => fixture.dispose());

function sessionsOf(nodeId: string) {
  return fixture.db
    .selectFrom('agent_sessions')
    .selectAll()
    .where('node_id', '=', nodeId)
    .orderBy('connected_at')
    .execute();
}

describe('a session', () => {
  it('is opened by hello and welcomed with what the gateway asks for', async () => {
    const { nodeId, credential } = await fixture.joinedNode();
    const agent = await fixture.agent(gateway.address, credential, { hostname: 'host-1', bootId: 'boot-1' });
    const welcome = await agent.welcome();
    const [session] = await sessionsOf(nodeId);
    expect(session).toMatchObject({ id: welcome.sessionId, hostname: 'host-1', boot_id: 'boot-1', ended_at: null });
    expect(welcome.heartbeatIntervalMs).toBeGreaterThan(0);
    expect(welcome.reconnectWindowMs).toBeGreaterThan(0);
  });

  it('ends with its stream', async () => {
    const { nodeId, credential } = await fixture.joinedNode();
    const agent = await fixture.agent(gateway.address, credential);
    agent.close();
    await eventually(async () => expect(await sessionsOf(nodeId)).toMatchObject([{ end_reason: 'closed_by_agent' }]));
  });

  it.each([
    ['the same gateway', () => gateway],
    ['another gateway', () => other],
  ])('is superseded by a newer one on %s', async (_, second) => {
    const { nodeId, credential } = await fixture.joinedNode();
    const old = await fixture.agent(gateway.address, credential);
    const young = await fixture.agent(second().address, credential);
    expect((await old.goAway()).reason).toBe(GoAway_Reason.SUPERSEDED);
    expect((await old.ended()).code).toBe(status.OK);
    const sessions = await sessionsOf(nodeId);
    expect(sessions.map((session) => session.end_reason)).toEqual(['superseded', null]);
    expect((await young.welcome()).sessionId).toBe(sessions[1]?.id);
  });

  it('has no rival when many streams of one node open at once', async () => {
    const { nodeId, credential } = await fixture.joinedNode();
    const nonce = randomUUID();
    const agents: WireAgent[] = [];
    const addresses = Array.from({ length: 10 }, (_, i) => (i % 2 ? gateway : other).address);
    for (const address of addresses) {
      const agent = WireAgent.dial(address, credential);
      agent.hello({ instanceNonce: nonce });
      agents.push(agent);
    }
    await eventually(async () => {
      const open = (await sessionsOf(nodeId)).filter((session) => session.ended_at === null);
      expect(open).toHaveLength(1);
      expect(await sessionsOf(nodeId)).toHaveLength(10);
      // The one that stays on its gateway is the one the row names; the others were sent away.
      const staying = agents.filter((agent) => agent.status === null);
      expect(staying).toHaveLength(1);
      expect((await staying[0]?.welcome())?.sessionId).toBe(open[0]?.id);
    });
    for (const agent of agents) agent.close();
  });
});

describe('a cloned machine (B3, field-case 118)', () => {
  it('is seen by nonces that alternate: both are sent away, one incident, and neither comes in again', async () => {
    const { nodeId, credential } = await fixture.joinedNode();
    const [a, b] = [randomUUID(), randomUUID()];
    await fixture.agent(gateway.address, credential, { instanceNonce: a });
    const second = await fixture.agent(other.address, credential, { instanceNonce: b });
    const third = WireAgent.dial(gateway.address, credential);
    third.hello({ instanceNonce: a });
    expect((await third.goAway()).reason).toBe(GoAway_Reason.QUARANTINED);
    expect((await second.goAway()).reason).toBe(GoAway_Reason.QUARANTINED);
    const again = WireAgent.dial(other.address, credential);
    again.hello({ instanceNonce: b });
    expect((await again.goAway()).reason).toBe(GoAway_Reason.QUARANTINED);
    const node = await fixture.db.selectFrom('nodes').selectAll().where('id', '=', nodeId).executeTakeFirstOrThrow();
    expect(node.quarantined_at).not.toBeNull();
    const incidents = await fixture.db.selectFrom('incidents').selectAll().where('node_id', '=', nodeId).execute();
    expect(incidents).toMatchObject([{ category: 'identity_cloned', severity: 'critical', status: 'open' }]);
  });

  it('is not seen in an agent that restarts again and again, or reconnects', async () => {
    const { nodeId, credential } = await fixture.joinedNode();
    for (const nonce of ['a', 'a', 'b', 'b', 'c']) {
      await fixture.agent(gateway.address, credential, { instanceNonce: nonce });
    }
    const node = await fixture.db.selectFrom('nodes').selectAll().where('id', '=', nodeId).executeTakeFirstOrThrow();
    expect(node.quarantined_at).toBeNull();
  });
});

describe('a message that makes no sense ends the stream, says why, and stores nothing', () => {
  async function refusedAfter(say: (agent: WireAgent) => void) {
    const { nodeId, credential } = await fixture.joinedNode();
    const agent = await fixture.agent(gateway.address, credential);
    say(agent);
    const ended = await agent.ended();
    await eventually(async () => expect((await sessionsOf(nodeId))[0]?.ended_at).not.toBeNull());
    const heartbeats = await fixture.db.selectFrom('node_heartbeats').where('node_id', '=', nodeId).execute();
    expect(heartbeats).toEqual([]);
    return ended;
  }

  it.each([
    ['a second hello', (agent: WireAgent) => agent.hello(), /hello came twice/],
    ['an empty message', (agent: WireAgent) => agent.send({ case: undefined }), /empty or of a kind/],
    [
      'a component without a name',
      (agent: WireAgent) => agent.heartbeat(componentReport({ binaryName: '' })),
      /binary_name/,
    ],
    [
      'a component of no runtime',
      (agent: WireAgent) => agent.heartbeat(componentReport({ runtimeType: RuntimeType.UNSPECIFIED })),
      /runtime_type/,
    ],
    [
      'a component told twice',
      (agent: WireAgent) => agent.heartbeat(componentReport(), componentReport()),
      /cometbft is there twice/,
    ],
    [
      'an id that is none',
      (agent: WireAgent) => agent.send({ case: 'commandAck', value: { commandId: "'; drop table" } }),
      /command_ack.command_id is no UUID/,
    ],
  ])('%s', async (_, say, sentence) => {
    expect(await refusedAfter(say)).toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: expect.stringMatching(sentence),
    });
  });

  it('one of more than 4 MB', async () => {
    const ended = await refusedAfter((agent) =>
      agent.heartbeat(componentReport({ metricsError: 'x'.repeat(5 * 1024 * 1024) })),
    );
    expect(ended.code).toBe(status.RESOURCE_EXHAUSTED);
  });

  it('bytes that are no message', async () => {
    const ended = await refusedAfter((agent) => agent.sendRaw(Buffer.from('0affffffff0f', 'hex')));
    expect(ended.code).toBe(status.INTERNAL);
  });

  it('a first message that is not hello', async () => {
    const { credential } = await fixture.joinedNode();
    const agent = WireAgent.dial(gateway.address, credential);
    agent.heartbeat();
    expect((await agent.ended()).details).toMatch(/first message must be hello, not heartbeat/);
  });
});
