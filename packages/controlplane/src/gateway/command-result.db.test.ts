import { status } from '@grpc/grpc-js';
import { Operation, Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Gateway } from './gateway.ts';
import { eventually } from './testing/eventually.ts';
import { GatewayFixture } from './testing/gateway-fixture.ts';
import type { WireAgent } from './testing/wire-agent.ts';

let fixture: GatewayFixture;
let gateway: Gateway;
beforeAll(async () => {
  fixture = await GatewayFixture.create();
  gateway = await fixture.gateway();
});
afterAll(() => fixture.dispose());

async function agentWithCommand(options: Parameters<GatewayFixture['command']>[1] = {}) {
  const { nodeId, credential } = await fixture.joinedNode();
  const made = await fixture.command(nodeId, options);
  const agent = await fixture.agent(gateway.address, credential);
  return { ...made, nodeId, credential, agent, command: await agent.command() };
}

function acked(agent: WireAgent, commandId: string, times = 1): Promise<void> {
  return eventually(() => expect(agent.acks()).toEqual(Array(times).fill(commandId)));
}

function messagesTo(commandId: string) {
  return fixture.db.selectFrom('engine_messages').selectAll().where('activity_id', '=', commandId).execute();
}

it.each([
  [Outcome.COMPLETED, 'completed', 'completed'],
  [Outcome.ROLLED_BACK, 'failed', 'rolled_back'],
  [Outcome.FAILED_ROLLBACK, 'failed', 'failed_rollback'],
  [Outcome.REFUSED, 'failed', 'refused'],
])('outcome %s ends the row as %s, tells the engine once and is acknowledged', async (outcome, rowStatus, stored) => {
  const { agent, command, commandId, rolloutId, nodeId } = await agentWithCommand();
  agent.result(command, { outcome, errorCode: 'why', logTail: ['last words'] });
  await acked(agent, commandId);
  expect(await fixture.commandRow(commandId)).toMatchObject({
    status: rowStatus,
    outcome: stored,
    result: { error_code: 'why', log_tail: ['last words'], downtime_ms: 0 },
  });
  expect(await messagesTo(commandId)).toMatchObject([
    { workflow_id: `upgrade-${rolloutId}-${nodeId}`, workflow_type: 'UpgradeNodeWorkflow', signal: null },
  ]);
});

it('a result that comes twice is stored once and acknowledged twice', async () => {
  const { agent, command, commandId } = await agentWithCommand();
  agent.result(command);
  agent.result(command, { outcome: Outcome.ROLLED_BACK });
  await acked(agent, commandId, 2);
  const row = await fixture.commandRow(commandId);
  expect(row).toMatchObject({ status: 'completed', outcome: 'completed', late_result: null });
  expect(await messagesTo(commandId)).toHaveLength(1);
});

it('a result that comes after the row has expired is kept beside it and never rewrites it (B5a)', async () => {
  const { agent, command, commandId } = await agentWithCommand();
  const ended = { status: 'expired', ended_at: new Date() } as const;
  await fixture.db.updateTable('agent_commands').set(ended).where('id', '=', commandId).execute();
  agent.result(command, { runningChecksum: 'sha256:late' });
  await acked(agent, commandId);
  expect(await fixture.commandRow(commandId)).toMatchObject({
    status: 'expired',
    outcome: null,
    result: null,
    late_result: { running_checksum: 'sha256:late' },
  });
  expect(await messagesTo(commandId)).toEqual([]);
});

it('keeps the log of a node that writes bytes Postgres does not take', async () => {
  const { agent, command, commandId } = await agentWithCommand();
  agent.result(command, { logTail: ['panic: \0\0 and \\u0000'] });
  await acked(agent, commandId);
  expect(await fixture.commandRow(commandId)).toMatchObject({
    result: { log_tail: ['panic: \uFFFD\uFFFD and \\u0000'] },
  });
});

it("another node's command is not touched", async () => {
  const { commandId, command } = await agentWithCommand();
  const stranger = await fixture.joinedNode();
  const agent = await fixture.agent(gateway.address, stranger.credential);
  agent.result(command);
  await acked(agent, commandId);
  expect((await fixture.commandRow(commandId)).outcome).toBeNull();
});

it.each([
  ['without an outcome', { outcome: Outcome.UNSPECIFIED }, /has no outcome/],
  ['of another attempt', { attemptId: 'another' }, /names attempt another/],
  ['of another operation', { operation: Operation.CONFIRM }, /another operation or attempt than UPGRADE/],
])('a result %s is refused and nothing is stored', async (_, result, sentence) => {
  const { agent, command, commandId } = await agentWithCommand();
  agent.result(command, result);
  expect(await agent.ended()).toMatchObject({
    code: status.INVALID_ARGUMENT,
    details: expect.stringMatching(sentence),
  });
  expect((await fixture.commandRow(commandId)).outcome).toBeNull();
});

it('is not acknowledged while it can not be stored, and is stored when it is sent again', async () => {
  const { agent, command, commandId, credential } = await agentWithCommand();
  await fixture.db.schema.alterTable('engine_messages').renameTo('engine_messages_away').execute();
  agent.result(command);
  expect((await agent.ended()).code).toBe(status.UNAVAILABLE);
  expect(agent.acks()).toEqual([]);
  await fixture.db.schema.alterTable('engine_messages_away').renameTo('engine_messages').execute();
  expect((await fixture.commandRow(commandId)).outcome).toBeNull();
  const again = await fixture.agent(gateway.address, credential);
  again.result(await again.command());
  await acked(again, commandId);
  expect((await fixture.commandRow(commandId)).outcome).toBe('completed');
});
