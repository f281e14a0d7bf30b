import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RolloutLab } from '@hoodcloud/testkit/rollout-lab';
import { WorkerProcess } from '@hoodcloud/testkit/worker-process';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TemporalServer } from '../dev/temporal-server.ts';
import { wakeRollout } from '../engine/engine-outbox.ts';
import { sweep } from '../engine/engine-sweep.ts';
import { nodeWorkflowId, rolloutWorkflowId } from './workflow-ids.ts';

let lab: RolloutLab;
beforeAll(async () => {
  lab = await RolloutLab.open();
});
afterAll(() => lab.close());
beforeEach(() => {
  lab.script = {};
});

/** A rollout whose first batch has its commands open. */
async function inTheMiddle(size: number, batchSize: number) {
  const scene = await lab.scene(size, { batch_size: batchSize });
  lab.script.agent = () => 'silent';
  await lab.start(scene.rolloutId);
  await lab.waitFor('the commands', async () => lab.commandsOf(scene.rolloutId, 'UPGRADE').length === batchSize);
  return scene;
}

/** Every node was commanded exactly once. */
async function expectNoneTwice(rolloutId: string, nodes: readonly string[]): Promise<void> {
  const commands = await lab.db
    .selectFrom('agent_commands')
    .select(['node_id', 'operation'])
    .where('rollout_id', '=', rolloutId)
    .where('operation', '=', 'UPGRADE')
    .execute();
  expect(commands.map((command) => command.node_id).sort()).toEqual([...nodes].sort());
  expect((await lab.rows(rolloutId)).map((row) => row.attempt_count)).toEqual(nodes.map(() => 1));
}

it('a start delivered many times starts one workflow and commands no node twice', async () => {
  const { rolloutId, nodes } = await lab.scene(3, { batch_size: 3 });
  await lab.start(rolloutId);
  for (const _ of Array.from({ length: 20 })) await wakeRollout(lab.db, rolloutId);
  await lab.until(rolloutId, 'completed');
  await expectNoneTwice(rolloutId, nodes);
});

it('a rollout workflow terminated in the middle is revived by the sweep and goes on where the rows are', async () => {
  const { rolloutId, nodes } = await inTheMiddle(4, 2);
  await lab.client.workflow.getHandle(rolloutWorkflowId(rolloutId)).terminate('lost');
  lab.script = {};
  await lab.waitFor('the first batch', async () => {
    const rows = await lab.rows(rolloutId);
    return rows.filter((row) => row.status === 'succeeded').length >= 2;
  });
  await sweep(lab.db, 600_000);
  await lab.until(rolloutId, 'completed');
  await expectNoneTwice(rolloutId, nodes);
});

it('a node workflow terminated while it waits is revived by the sweep and finds its result', async () => {
  const { rolloutId, nodes } = await inTheMiddle(1, 1);
  const [node = ''] = nodes;
  await lab.client.workflow.getHandle(nodeWorkflowId(rolloutId, node)).terminate('lost');
  lab.script = {};
  await lab.waitFor('the result', async () => {
    const command = await lab.db
      .selectFrom('agent_commands')
      .selectAll()
      .where('node_id', '=', node)
      .executeTakeFirst();
    return command?.ended_at;
  });
  await sweep(lab.db, 0);
  await lab.until(rolloutId, 'completed');
  await expectNoneTwice(rolloutId, nodes);
});

it('the sweep writes an address that waits already only once', async () => {
  const { rolloutId } = await inTheMiddle(1, 1);
  await lab.stopReconcilers();
  await sweep(lab.db, 0);
  const addresses = async () =>
    lab.db.selectFrom('engine_messages').select('id').where('workflow_id', '=', rolloutWorkflowId(rolloutId)).execute();
  const before = await addresses();
  expect(before).toHaveLength(1);
  await sweep(lab.db, 0);
  expect(await addresses()).toEqual(before);
  lab.script = {};
  await lab.startReconcilers();
  await lab.until(rolloutId, 'completed');
});

describe('a worker', () => {
  it('killed by SIGKILL in the middle of a batch is replaced: nothing is lost, nothing twice', async () => {
    await lab.stopWorker();
    const first = await WorkerProcess.start(lab);
    const { rolloutId, nodes } = await inTheMiddle(4, 2);
    await first.kill();
    lab.script = {};
    await lab.waitFor('the results', async () => {
      const ended = await lab.db
        .selectFrom('agent_commands')
        .select('ended_at')
        .where('rollout_id', '=', rolloutId)
        .execute();
      return ended.every(({ ended_at }) => ended_at !== null);
    });
    const second = await WorkerProcess.start(lab);
    try {
      await lab.until(rolloutId, 'completed');
      await expectNoneTwice(rolloutId, nodes);
    } finally {
      await second.stop();
      await lab.startWorker();
    }
  });
});

describe('the engine', () => {
  it('killed in the middle keeps nobody from ordering, and hears of it when it is back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-temporal-'));
    let temporal = await TemporalServer.start({ folder, durable: false });
    const port = Number(temporal.address.split(':')[1]);
    const own = await RolloutLab.open({ temporalAddress: temporal.address });
    try {
      const { rolloutId, nodes } = await own.scene(2, { batch_size: 1 });
      own.script.agent = () => 'silent';
      await own.start(rolloutId);
      await own.waitFor('the first command', async () => own.commandsOf(rolloutId, 'UPGRADE').length === 1);
      await temporal.kill();
      await own.order(rolloutId, 'pause');
      own.script = {};
      await own.waitFor('a refused delivery', async () => {
        const waiting = await own.db.selectFrom('engine_messages').select('last_error').execute();
        return waiting.some(({ last_error }) => last_error !== null);
      });
      temporal = await TemporalServer.start({ folder, port, durable: false });
      await own.until(rolloutId, 'paused');
      await own.order(rolloutId, 'resume');
      await own.until(rolloutId, 'completed');
      const rows = await own.rows(rolloutId);
      expect(rows.map((row) => [row.status, row.attempt_count])).toEqual(nodes.map(() => ['succeeded', 1]));
    } finally {
      await own.close();
      await temporal.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('continue-as-new', () => {
  it('loses no signal, however many arrive while it happens (field-case 113)', async () => {
    const { rolloutId } = await lab.scene(12, { batch_size: 1 });
    // The eleventh node is held, so that no signal can meet a workflow that has ended.
    const held = () => lab.commandsOf(rolloutId, 'UPGRADE').length > 10;
    lab.script.agent = () => (held() ? 'silent' : { outcome: 'completed' });
    await lab.start(rolloutId);
    const handle = lab.client.workflow.getHandle(rolloutWorkflowId(rolloutId));
    await lab.waitFor('the workflow', async () => (await lab.rows(rolloutId)).length > 0);
    let sent = 0;
    const ended = async () => (await lab.rows(rolloutId)).filter((row) => row.status === 'succeeded').length;
    // Each batch continues as new; a control by hand is in flight around every one of them.
    while ((await ended()) < 10) {
      await handle.signal('force');
      sent += 1;
    }
    lab.script = {};
    await lab.until(rolloutId, 'completed');
    const stored = await lab.db
      .selectFrom('rollout_controls')
      .select('id')
      .where('rollout_id', '=', rolloutId)
      .where('kind', '=', 'force')
      .execute();
    expect(sent).toBeGreaterThan(12);
    expect(stored).toHaveLength(sent);
  });

  it('carries a batch of more nodes than one answer names (C7)', async () => {
    const { rolloutId } = await lab.scene(520, { strategy: 'all_at_once', skip_validation: true });
    await lab.start(rolloutId);
    const rollout = await lab.waitFor(
      'the end',
      async () => {
        const now = await lab.rollout(rolloutId);
        return now.status === 'running' ? null : now;
      },
      540_000,
    );
    expect(rollout).toMatchObject({ status: 'completed', succeeded_nodes: 520 });
    const { attempts } = await lab.db
      .selectFrom('rollout_nodes')
      .select((eb) => eb.fn.max('attempt_count').as('attempts'))
      .where('rollout_id', '=', rolloutId)
      .executeTakeFirstOrThrow();
    expect(attempts).toBe(1);
  }, 560_000);
});
