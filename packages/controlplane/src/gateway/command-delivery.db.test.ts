import { type Command, DriftPolicy } from '@hoodcloud/contracts/wire/agent-v1';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Gateway } from './gateway.ts';
import { eventually } from './testing/eventually.ts';
import { GatewayFixture } from './testing/gateway-fixture.ts';
import type { WireAgent } from './testing/wire-agent.ts';

let fixture: GatewayFixture;
let gateway: Gateway;
let other: Gateway;
beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway({ redeliverAfterMs: 300 });
  other = await fixture.gateway({ redeliverAfterMs: 300 });
});
afterAll(() => fixture.dispose());

/** Waits until the agent has heard the command so often. */
function heardTimes(agent: WireAgent, times: number): Promise<Command[]> {
  return eventually(() => {
    const commands = agent.commands();
    if (commands.length < times) throw new Error(`heard ${commands.length} times`);
    return commands;
  });
}

it('brings a command that is written while the stream is open, with its payload and the time that is left', async () => {
  const { nodeId, credential } = await fixture.joinedNode();
  const agent = await fixture.agent(gateway.address, credential);
  const payload = { binaryName: 'cometbft', targetVersion: 'v2', driftPolicy: DriftPolicy.FAIL };
  const { commandId, attemptId } = await fixture.command(nodeId, { payload, deadlineInMs: 60_000 });
  const command = await agent.command();
  expect(command).toMatchObject({ commandId, upgrade: { attemptId, ...payload } });
  expect(command.expiresInMs).toBeGreaterThan(50_000);
  expect(command.expiresInMs).toBeLessThanOrEqual(60_000);
});

it('brings a command that was written before the agent came', async () => {
  const { nodeId, credential } = await fixture.joinedNode();
  const { commandId } = await fixture.command(nodeId);
  const agent = await fixture.agent(gateway.address, credential);
  expect((await agent.command()).commandId).toBe(commandId);
});

it('brings nothing of another node, and nothing past its deadline', async () => {
  const one = await fixture.joinedNode();
  const two = await fixture.joinedNode();
  await fixture.command(one.nodeId, { deadlineInMs: -1 });
  const agent = await fixture.agent(gateway.address, one.credential);
  const neighbour = await fixture.agent(gateway.address, two.credential);
  await fixture.command(two.nodeId);
  await neighbour.command();
  expect(agent.commands()).toEqual([]);
});

it('brings it again, under the same id, until it is acknowledged, and then no more', async () => {
  const { nodeId, credential } = await fixture.joinedNode();
  const agent = await fixture.agent(gateway.address, credential);
  const { commandId } = await fixture.command(nodeId);
  const [first, second] = await heardTimes(agent, 2);
  expect([first?.commandId, second?.commandId]).toEqual([commandId, commandId]);
  if (first) agent.ack(first);
  await eventually(async () => expect((await fixture.commandRow(commandId)).status).toBe('acknowledged'));
  const { deliveries } = await fixture.commandRow(commandId);
  // A neighbour's command that is not acknowledged shows that the sweep has run past this one.
  const neighbour = await fixture.joinedNode();
  await fixture.agent(gateway.address, neighbour.credential);
  const { commandId: later } = await fixture.command(neighbour.nodeId);
  await eventually(async () => expect((await fixture.commandRow(later)).deliveries).toBeGreaterThan(1));
  expect((await fixture.commandRow(commandId)).deliveries).toBe(deliveries);
});

it('is brought by the other gateway when the first one dies before the acknowledgement', async () => {
  const dying = await fixture.gateway();
  // Its sweep comes too late to be what brings the command.
  const heir = await fixture.gateway({ redeliverAfterMs: 600_000 });
  const { nodeId, credential } = await fixture.joinedNode();
  const agent = await fixture.agent(dying.address, credential);
  const { commandId } = await fixture.command(nodeId);
  await agent.command();
  await dying.stop();
  const again = await fixture.agent(heir.address, credential);
  expect((await again.command()).commandId).toBe(commandId);
  expect((await fixture.commandRow(commandId)).deliveries).toBe(2);
});

it('goes to the newest stream only', async () => {
  const { nodeId, credential } = await fixture.joinedNode();
  const old = await fixture.agent(gateway.address, credential);
  const young = await fixture.agent(other.address, credential);
  const { commandId } = await fixture.command(nodeId);
  expect((await young.command()).commandId).toBe(commandId);
  await old.ended();
  expect(old.commands()).toEqual([]);
});

it('that no stream can carry ends as refused with the reason, and the engine is told', async () => {
  const { nodeId, credential } = await fixture.joinedNode();
  const agent = await fixture.agent(gateway.address, credential);
  const configFiles = [{ path: '/etc/app.toml', content: new Uint8Array(5 * 1024 * 1024) }];
  const { commandId } = await fixture.command(nodeId, { payload: { configFiles } });
  await eventually(async () => expect((await fixture.commandRow(commandId)).outcome).toBe('refused'));
  const { result } = await fixture.commandRow(commandId);
  expect(result).toMatchObject({ error_code: 'payload_too_large', error_message: expect.stringMatching(/5\.0 MB/) });
  const told = await fixture.db.selectFrom('engine_messages').where('activity_id', '=', commandId).execute();
  expect(told).toHaveLength(1);
  expect(agent.commands()).toEqual([]);
  expect(agent.status).toBeNull();
});

it('that can not be read does not keep the commands of other nodes back', async () => {
  const broken = await fixture.joinedNode();
  const sound = await fixture.joinedNode();
  const unread = await fixture.agent(gateway.address, broken.credential);
  const { commandId } = await fixture.command(broken.nodeId);
  await unread.command();
  const garbage = { payload: Buffer.from('0affffffff0f', 'hex'), status: 'pending' } as const;
  await fixture.db.updateTable('agent_commands').set(garbage).where('id', '=', commandId).execute();
  await eventually(() =>
    expect(fixture.log.lines).toContainEqual(expect.objectContaining({ message: 'a command could not be delivered' })),
  );
  const agent = await fixture.agent(gateway.address, sound.credential);
  const { commandId: wanted } = await fixture.command(sound.nodeId);
  expect((await agent.command()).commandId).toBe(wanted);
});
