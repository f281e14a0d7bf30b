import { create } from '@bufbuild/protobuf';
import { CommandProgressSchema } from '@hoodcloud/contracts/wire/agent-v1';
import { UPGRADE_PHASES } from '@hoodcloud/domain/upgrade-phase';
import { hookStepName } from '@hoodcloud/domain/vendor-hook';
import { countedDatabase } from '@hoodcloud/testkit/counted-database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLaterPhase, ProgressBuffer } from './command-progress.ts';
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

async function agentWithCommand() {
  const { nodeId, credential } = await fixture.joinedNode();
  const made = await fixture.command(nodeId);
  const agent = await fixture.agent(gateway.address, credential);
  return { ...made, nodeId, agent, command: await agent.command() };
}

function report(
  agent: WireAgent,
  made: { commandId: string; attemptId: string },
  phase: string,
  progressPct = 0,
): void {
  const { commandId, attemptId } = made;
  const value = { commandId, attemptId, phase, progressPct, actionIndex: 1, actionName: 'acquire_artifact' };
  agent.send({ case: 'commandProgress', value: { ...value, note: `${progressPct} %` } });
}

async function phasesToldOf(nodeId: string): Promise<unknown[]> {
  const events = await fixture.db
    .selectFrom('events')
    .select('data')
    .where('node_id', '=', nodeId)
    .where('kind', '=', 'node_upgrade_phase_changed')
    .orderBy('id')
    .execute();
  return events.map(({ data }) => (data as { to: string }).to);
}

it('the newest progress is in the command, and each phase in its node and an event', async () => {
  const made = await agentWithCommand();
  report(made.agent, made, 'PREPARING', 10);
  report(made.agent, made, 'STOPPED', 40);
  report(made.agent, made, 'MUTATING', 55);
  await eventually(async () => {
    expect(await fixture.commandRow(made.commandId)).toMatchObject({
      progress_pct: 55,
      action_name: 'acquire_artifact',
      action_index: 1,
      progress_note: '55 %',
    });
  });
  expect(await phasesToldOf(made.nodeId)).toEqual(['STOPPED', 'MUTATING']);
  const row = await fixture.db
    .selectFrom('rollout_nodes')
    .select('upgrade_phase')
    .where('id', '=', made.rolloutNodeId)
    .executeTakeFirst();
  expect(row?.upgrade_phase).toBe('MUTATING');
});

it('a step of the vendor is told by its whole name, however long its vendor made it', async () => {
  const made = await agentWithCommand();
  const actionName = hookStepName({ at: 'after_install', name: 'c'.repeat(40) });
  const value = {
    commandId: made.commandId,
    attemptId: made.attemptId,
    phase: 'MUTATING',
    progressPct: 60,
    actionName,
  };
  made.agent.send({ case: 'commandProgress', value: { ...value, actionIndex: 7, note: '' } });
  await eventually(async () => expect((await fixture.commandRow(made.commandId)).action_name).toBe(actionName));
  const told = await fixture.db
    .selectFrom('events')
    .select('data')
    .where('node_id', '=', made.nodeId)
    .where('kind', '=', 'node_upgrade_phase_changed')
    .execute();
  expect(told).toEqual([{ data: expect.objectContaining({ action_name: actionName }) }]);
});

it('phases that can not follow, or that are not for an agent to say, change nothing', async () => {
  const made = await agentWithCommand();
  for (const phase of ['ROLLBACKING', 'MUTATING', 'COMPLETED', 'FAILED_ROLLBACK', 'nonsense']) {
    report(made.agent, made, phase, 90);
  }
  await eventually(async () => expect((await fixture.commandRow(made.commandId)).progress_pct).toBe(90));
  expect(await phasesToldOf(made.nodeId)).toEqual(['ROLLBACKING']);
});

it('progress that came before a result is stored before it', async () => {
  const made = await agentWithCommand();
  report(made.agent, made, 'STARTING', 99);
  made.agent.result(made.command);
  await eventually(() => expect(made.agent.acks()).toEqual([made.commandId]));
  expect(await fixture.commandRow(made.commandId)).toMatchObject({ status: 'completed', progress_pct: 99 });
  expect(await phasesToldOf(made.nodeId)).toEqual(['STARTING']);
});

it('progress of a command that has ended, or of another attempt, changes nothing', async () => {
  const made = await agentWithCommand();
  made.agent.result(made.command);
  report(made.agent, made, 'STOPPED', 50);
  const next = await agentWithCommand();
  report(next.agent, { ...next, attemptId: 'another' }, 'STOPPED', 50);
  // The same buffer takes both; what comes after them shows that they were looked at.
  const last = await agentWithCommand();
  report(last.agent, last, 'STOPPED', 50);
  await eventually(async () => expect(await phasesToldOf(last.nodeId)).toEqual(['STOPPED']));
  for (const { commandId, nodeId } of [made, next]) {
    expect((await fixture.commandRow(commandId)).progress_pct).toBeNull();
    expect(await phasesToldOf(nodeId)).toEqual([]);
  }
});

describe('isLaterPhase', () => {
  it('leaps over phases that were lost with a stream, and never goes back', () => {
    expect(isLaterPhase('PREPARING', 'STARTING')).toBe(true);
    expect(isLaterPhase('STARTING', 'STOPPED')).toBe(false);
    expect(isLaterPhase('ROLLBACKING', 'MUTATING')).toBe(false);
    for (const phase of UPGRADE_PHASES) expect(isLaterPhase(phase, phase)).toBe(false);
  });
});

it('phases of many nodes in one tick cost as many statements as those of one', async () => {
  const statements = async (nodes: number) => {
    const counted = countedDatabase(fixture.database.url);
    const buffer = new ProgressBuffer(counted.db, fixture.log.log);
    const made = await Promise.all(
      Array.from({ length: nodes }, async () => {
        const { nodeId } = await fixture.joinedNode();
        return { nodeId, ...(await fixture.command(nodeId)) };
      }),
    );
    for (const { nodeId, commandId, attemptId } of made) {
      for (const phase of ['STOPPED', 'MUTATING']) {
        buffer.add(nodeId, create(CommandProgressSchema, { commandId, attemptId, phase, actionName: 'stop_node' }));
      }
    }
    await buffer.flush();
    await counted.dispose();
    for (const { nodeId } of made) expect(await phasesToldOf(nodeId)).toEqual(['STOPPED', 'MUTATING']);
    return counted.statements();
  };
  expect(await statements(20)).toBe(await statements(1));
});
