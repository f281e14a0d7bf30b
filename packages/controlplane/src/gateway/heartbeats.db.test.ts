import type { MessageInitShape } from '@bufbuild/protobuf';
import { type ComponentReportSchema, GoAway_Reason } from '@hoodcloud/contracts/wire/agent-v1';
import { checksumOf } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chainHealth } from '../health/testing/health-fixture.ts';
import type { Gateway } from './gateway.ts';
import { eventually } from './testing/eventually.ts';
import { GatewayFixture } from './testing/gateway-fixture.ts';
import { componentReport, type WireAgent } from './testing/wire-agent.ts';

let fixture: GatewayFixture;
let gateway: Gateway;
const named: string[] = [];
beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway({
    chainHealth: () => Promise.resolve(chainHealth()),
    checksumSeen: async (_, binaryName, checksum) => void named.push(`${binaryName} ${checksum}`),
  });
});
beforeEach(() => {
  named.length = 0;
});
afterAll(() => fixture.dispose());

function nodeRow(nodeId: string) {
  return fixture.db.selectFrom('nodes').selectAll().where('id', '=', nodeId).executeTakeFirstOrThrow();
}

function heartbeatsOf(nodeId: string) {
  return fixture.db.selectFrom('node_heartbeats').selectAll().where('node_id', '=', nodeId).orderBy('id').execute();
}

async function stored(nodeId: string, times: number): Promise<void> {
  await eventually(async () => expect(await heartbeatsOf(nodeId)).toHaveLength(times));
}

function withMetrics(metrics: Record<string, number>): MessageInitShape<typeof ComponentReportSchema> {
  return componentReport({ metrics: Object.entries(metrics).map(([name, value]) => ({ name, value })) });
}

async function connectedNode(chain: string) {
  const { nodeId, credential } = await fixture.joinedNode({ chain_profile_id: chain, last_heartbeat_at: null });
  return { nodeId, credential, agent: await fixture.agent(gateway.address, credential) };
}

describe('a heartbeat', () => {
  it('is asked to carry the metrics that the chain judges by, for each component', async () => {
    const { agent } = await connectedNode('metrics');
    const wanted = (await agent.welcome()).metricsWanted;
    expect(wanted).toMatchObject([{ binaryName: 'cometbft', metricNames: ['catching_up', 'height'] }]);
  });

  it('is stored with what the chain makes of it, and shows in node and component', async () => {
    const { nodeId, agent } = await connectedNode('stored');
    agent.heartbeat({
      ...withMetrics({ height: 12, catching_up: 0 }),
      restarts: 2,
      runningChecksum: checksumOf('d'),
      reportedVersion: 'v9',
    });
    await stored(nodeId, 1);
    expect(await nodeRow(nodeId)).toMatchObject({ application_health: 'ok', sync_status: 'synced', height: 12 });
    expect((await nodeRow(nodeId)).last_heartbeat_at).not.toBeNull();
    const [heartbeat] = await heartbeatsOf(nodeId);
    expect(heartbeat).toMatchObject({
      session_id: (await agent.welcome()).sessionId,
      judged: { application_health: 'ok', sync_status: 'synced', height: 12, ready: null },
      components: [{ binary_name: 'cometbft', main_pid: 4711, running_checksum: checksumOf('d') }],
    });
    const components = await fixture.db
      .selectFrom('node_components')
      .selectAll()
      .where('node_id', '=', nodeId)
      .execute();
    expect(components).toMatchObject([
      {
        main_pid: 4711,
        main_pid_started_at: 1000,
        restarts: 2,
        running_checksum: checksumOf('d'),
        reported_version: 'v9',
      },
    ]);
  });

  it('without the metrics is unknown, and of a component that does not run critical', async () => {
    const { nodeId, agent } = await connectedNode('unknown');
    agent.heartbeat();
    await stored(nodeId, 1);
    expect(await nodeRow(nodeId)).toMatchObject({
      application_health: 'unknown',
      sync_status: 'unknown',
      height: null,
    });
    agent.heartbeat(componentReport({ active: false, mainPid: 0 }));
    await stored(nodeId, 2);
    expect((await nodeRow(nodeId)).application_health).toBe('critical');
  });

  it('has its host clock shown as skew and is received now, whatever that clock says (field-case 119)', async () => {
    const { nodeId, agent } = await connectedNode('skew');
    const hourAgo = BigInt(Math.floor(Date.now() / 1000) - 3600);
    agent.send({ case: 'heartbeat', value: { sentAt: { seconds: hourAgo }, components: [componentReport()] } });
    await stored(nodeId, 1);
    const { clock_skew_ms, last_heartbeat_at } = await nodeRow(nodeId);
    expect(clock_skew_ms).toBeLessThan(-3_590_000);
    expect(Date.now() - (last_heartbeat_at?.getTime() ?? 0)).toBeLessThan(10_000);
  });

  it('with the largest numbers and odd text of the wire is stored all the same', async () => {
    const { nodeId, agent } = await connectedNode('odd');
    agent.heartbeat(
      componentReport({
        mainPid: 0xffff_ffff,
        mainPidStartedAt: 0xffff_ffff_ffff_ffffn,
        restarts: 0xffff_ffff,
        reportedVersion: `v1\0${'x'.repeat(500)}`,
        metrics: [
          { name: 'height', value: Number.POSITIVE_INFINITY },
          { name: 'catching_up', value: Number.NaN },
        ],
      }),
    );
    await stored(nodeId, 1);
    expect((await nodeRow(nodeId)).height).toBeNull();
  });

  it('of a stream that was superseded without its knowing is not counted, and ends the stream', async () => {
    const { nodeId, agent } = await connectedNode('superseded');
    // As when the notification of another gateway's session is lost.
    const ended = { ended_at: new Date(), end_reason: 'superseded' };
    await fixture.db.updateTable('agent_sessions').set(ended).where('node_id', '=', nodeId).execute();
    agent.heartbeat();
    expect((await agent.goAway()).reason).toBe(GoAway_Reason.SUPERSEDED);
    expect(await heartbeatsOf(nodeId)).toEqual([]);
  });

  it('that can not be stored is stored later', async () => {
    const { nodeId, agent } = await connectedNode('later');
    await fixture.db.schema.alterTable('node_heartbeats').renameTo('heartbeats_away').execute();
    agent.heartbeat();
    await eventually(() =>
      expect(fixture.log.lines.map((line) => line.message)).toContainEqual(
        expect.stringMatching(/heartbeats could not be stored/),
      ),
    );
    await fixture.db.schema.alterTable('heartbeats_away').renameTo('node_heartbeats').execute();
    await stored(nodeId, 1);
  });

  it('that was sent before a result is stored before it, so that it does not count as fresh (D1)', async () => {
    const { nodeId, agent } = await connectedNode('before');
    const { commandId } = await fixture.command(nodeId);
    const command = await agent.command();
    agent.heartbeat();
    agent.result(command);
    await eventually(() => expect(agent.acks()).toEqual([commandId]));
    const [heartbeat] = await heartbeatsOf(nodeId);
    const { ended_at } = await fixture.commandRow(commandId);
    expect(heartbeat?.received_at.getTime()).toBeLessThanOrEqual(ended_at?.getTime() ?? 0);
  });
});

describe('heights (D4a)', () => {
  async function bestOf(chain: string) {
    return fixture.db.selectFrom('chain_heights').selectAll().where('chain_profile_id', '=', chain).executeTakeFirst();
  }

  async function beat(nodeId: string, agent: WireAgent, height: number, times: number): Promise<void> {
    agent.heartbeat(withMetrics({ height, catching_up: 0 }));
    await stored(nodeId, times);
  }

  it('give the chain its best height and when it grew, which a lower or equal one does not change', async () => {
    const one = await connectedNode('heights');
    const two = await connectedNode('heights');
    await beat(one.nodeId, one.agent, 100, 1);
    const first = await bestOf('heights');
    await beat(two.nodeId, two.agent, 90, 1);
    await beat(one.nodeId, one.agent, 100, 2);
    expect(await bestOf('heights')).toEqual(first);
    await beat(two.nodeId, two.agent, 101, 2);
    const grown = await bestOf('heights');
    expect(grown?.best_height).toBe(101);
    expect(grown?.grew_at.getTime()).toBeGreaterThan(first?.grew_at.getTime() ?? 0);
  });

  it('make a node stalled that stands while its chain grows, and no node on a chain that stands', async () => {
    const ahead = await connectedNode('stalls');
    const stuck = await connectedNode('stalls');
    await beat(ahead.nodeId, ahead.agent, 100, 1);
    await beat(stuck.nodeId, stuck.agent, 50, 1);
    const longAgo = { height_grew_at: new Date(Date.now() - 120_000) };
    await fixture.db.updateTable('nodes').set(longAgo).where('chain_profile_id', '=', 'stalls').execute();
    await beat(ahead.nodeId, ahead.agent, 101, 2);
    await beat(stuck.nodeId, stuck.agent, 50, 2);
    expect((await nodeRow(stuck.nodeId)).sync_status).toBe('stalled');
    expect((await nodeRow(ahead.nodeId)).sync_status).toBe('synced');
    const halted = { grew_at: new Date(Date.now() - 60_000) };
    await fixture.db.updateTable('chain_heights').set(halted).where('chain_profile_id', '=', 'stalls').execute();
    await beat(stuck.nodeId, stuck.agent, 50, 3);
    expect((await nodeRow(stuck.nodeId)).sync_status).toBe('synced');
  });
});

describe('what runs on a node is named when it is first seen (B2)', () => {
  it('at hello, and when another checksum appears, and not with every heartbeat', async () => {
    const { nodeId, credential } = await fixture.joinedNode();
    const [one, two] = [checksumOf('1'), checksumOf('2')];
    const agent = await fixture.agent(gateway.address, credential, {
      components: [componentReport({ runningChecksum: one })],
    });
    for (const runningChecksum of [one, one, '', two, two]) agent.heartbeat(componentReport({ runningChecksum }));
    await stored(nodeId, 5);
    expect(named).toEqual([`cometbft ${one}`, `cometbft ${two}`]);
  });
});

it('a component that the agent no longer has is dropped at its next hello (A17)', async () => {
  const { nodeId, credential } = await fixture.joinedNode();
  const components = [componentReport(), componentReport({ binaryName: 'signer' })];
  await fixture.agent(gateway.address, credential, { components });
  await fixture.agent(gateway.address, credential, { components: [componentReport({ binaryName: 'signer' })] });
  await eventually(async () => {
    const rows = await fixture.db
      .selectFrom('node_components')
      .select('binary_name')
      .where('node_id', '=', nodeId)
      .execute();
    expect(rows).toEqual([{ binary_name: 'signer' }]);
  });
});
