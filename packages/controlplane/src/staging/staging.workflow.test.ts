import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { CommandResultSchema, Operation, Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import { attemptId } from '@hoodcloud/domain/agent-operation';
import { RolloutLab } from '@hoodcloud/testkit/rollout-lab';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { recordResult } from '../gateway/command-result.ts';

let lab: RolloutLab;
beforeAll(async () => {
  lab = await RolloutLab.open();
});
afterAll(() => lab.close());
beforeEach(() => {
  lab.script = {};
});

/** Whether the agent of every node, and there are some, said this last. */
async function allAre(rolloutId: string, state: 'staged' | 'armed' | 'unstaged'): Promise<boolean> {
  const rows = await lab.rows(rolloutId);
  return rows.length > 0 && rows.every((row) => row.stage_state === state);
}

it('every node makes ready before the first is upgraded, whatever its batch', async () => {
  const { rolloutId } = await lab.scene(4, { batch_size: 2, stage: true });
  const seen: string[] = [];
  lab.script.agent = ({ operation }) => {
    seen.push(operation);
    return { outcome: 'completed' };
  };
  await lab.start(rolloutId);
  expect(await lab.until(rolloutId, 'completed', 'failed', 'paused')).toMatchObject({ status: 'completed' });
  expect(seen.slice(0, 4)).toEqual(['STAGE', 'STAGE', 'STAGE', 'STAGE']);
  expect(seen.filter((operation) => operation === 'STAGE')).toHaveLength(4);
  expect(seen).not.toContain('UNSTAGE');
});

it('a node that is not ready says why and holds nobody', async () => {
  const { rolloutId, nodes } = await lab.scene(2, { batch_size: 1, stage: true });
  const [bad] = nodes;
  lab.script.agent = ({ nodeId, operation }) =>
    operation === 'STAGE' && nodeId === bad
      ? { outcome: 'refused', error: 'the disk is full' }
      : { outcome: 'completed' };
  await lab.start(rolloutId);
  await lab.until(rolloutId, 'completed');
  const rows = await lab.rows(rolloutId);
  expect(rows.find((row) => row.node_id === bad)).toMatchObject({
    stage_state: 'not_ready',
    stage_error: 'the disk is full',
    status: 'succeeded',
  });
});

it('a cancel takes back what every node has, also from an agent that comes back later', async () => {
  const { rolloutId, nodes } = await lab.scene(2, { stage: true, start_at_height: 1_000 });
  await lab.start(rolloutId);
  await lab.waitFor('both staged', () => allAre(rolloutId, 'staged'));
  expect(lab.commandsOf(rolloutId, 'UPGRADE')).toEqual([]);
  const [away] = nodes;
  lab.script.agent = ({ nodeId }) => (nodeId === away ? 'silent' : { outcome: 'completed' });
  await lab.order(rolloutId, 'cancel');
  await lab.until(rolloutId, 'canceled');
  await lab.waitFor('one taken back', async () =>
    (await lab.rows(rolloutId)).some((row) => row.stage_state === 'unstaged'),
  );
  await lab.waitFor('the other told', async () => lab.commandsOf(rolloutId, 'UNSTAGE').length === 2);
  // its command expires while the agent is away: it is told again
  await sql`update agent_commands set deadline_at = now() where operation = 'UNSTAGE' and node_id = ${away}`.execute(
    lab.db,
  );
  await lab.waitFor('it is told again', async () => lab.commandsOf(rolloutId, 'UNSTAGE').length === 3);
  lab.script.agent = () => ({ outcome: 'completed' });
  await lab.waitFor('all taken back', () => allAre(rolloutId, 'unstaged'));
  expect(lab.commandsOf(rolloutId, 'UPGRADE')).toEqual([]);
});

it('a crash between an order and its answer loses nothing: rows alone are read again', async () => {
  const { rolloutId } = await lab.scene(2, { batch_size: 2, stage: true });
  lab.script.agent = ({ operation }) => (operation === 'STAGE' ? 'silent' : { outcome: 'completed' });
  await lab.start(rolloutId);
  await lab.waitFor('both told', async () => lab.commandsOf(rolloutId, 'STAGE').length === 2);
  await lab.stopReconcilers();
  lab.script.agent = () => ({ outcome: 'completed' });
  await lab.startReconcilers();
  await lab.until(rolloutId, 'completed');
  expect(lab.commandsOf(rolloutId, 'STAGE')).toHaveLength(2);
});

it('nodes that swap by themselves at the height are taken as they tell it; a pause before it disarms the others', async () => {
  const { rolloutId, nodes } = await lab.scene(2, {
    strategy: 'all_at_once',
    stage: true,
    activation: 'height',
    start_at_height: 1_000,
  });
  await lab.start(rolloutId);
  await lab.waitFor('both armed', () => allAre(rolloutId, 'armed'));
  for (const { payload } of lab.commandsOf(rolloutId, 'STAGE')) expect(payload.activation?.height).toBe(1_000n);
  expect(lab.commandsOf(rolloutId, 'UPGRADE')).toEqual([]);
  const [first = '', second = ''] = nodes;
  const swapped = create(CommandResultSchema, {
    commandId: randomUUID(),
    attemptId: attemptId(rolloutId, first, 1),
    operation: Operation.UPGRADE,
    outcome: Outcome.COMPLETED,
  });
  expect(await recordResult(lab.db, first, swapped)).toBe('applied');
  await lab.waitFor('it is proved', async () => (await lab.row(rolloutId, first)).status === 'succeeded');
  expect(await lab.row(rolloutId, second)).toMatchObject({ status: 'pending', stage_state: 'armed' });
  await lab.order(rolloutId, 'pause');
  await lab.until(rolloutId, 'paused');
  await lab.waitFor('the other is disarmed', async () => (await lab.row(rolloutId, second)).stage_state === 'staged');
  expect(lab.commandsOf(rolloutId, 'STAGE').at(-1)?.payload.activation).toBeUndefined();
  await lab.order(rolloutId, 'resume');
  await lab.waitFor('it is armed again', async () => (await lab.row(rolloutId, second)).stage_state === 'armed');
  expect(lab.commandsOf(rolloutId, 'UPGRADE')).toHaveLength(1);
});

it('what an agent tells unasked of another node, or of an attempt that is not armed, is nobody’s news', async () => {
  const { rolloutId, nodes } = await lab.scene(2);
  const [first = '', second = ''] = nodes;
  await lab.start(rolloutId);
  await lab.until(rolloutId, 'completed');
  const told = { commandId: randomUUID(), operation: Operation.UPGRADE, outcome: Outcome.COMPLETED };
  for (const node of [first, second]) {
    const result = create(CommandResultSchema, { ...told, attemptId: attemptId(rolloutId, first, 2) });
    expect(await recordResult(lab.db, node, result)).toBe('unknown');
  }
});
