import { GroupLab } from '@hoodcloud/testkit/group-lab';
import { RolloutLab, type ScriptedAnswer } from '@hoodcloud/testkit/rollout-lab';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sweep } from '../engine/engine-sweep.ts';
import { updateGroupProgress } from '../rollout-groups/group-progress.ts';
import { groupWorkflowId, rolloutWorkflowId } from './workflow-ids.ts';

let lab: RolloutLab;
let groups: GroupLab;
beforeAll(async () => {
  lab = await RolloutLab.open();
  groups = new GroupLab(lab);
});
afterAll(() => lab.close());
beforeEach(() => {
  lab.script = {};
});

async function heartbeats(nodes: readonly string[]): Promise<void> {
  for (const node of nodes) await groups.heartbeat(node);
}

const FAILS: ScriptedAnswer = { outcome: 'rolled_back', error: 'panic: unknown engine API' };
const fails = () => FAILS;
/** The first companion is upgraded, the others are not. */
const secondFails = (earlier: number): ScriptedAnswer => (earlier === 0 ? { outcome: 'completed' } : FAILS);
const ONE_AT_A_TIME = { request: { batch_size: 1 } };

async function statuses(groupId: string): Promise<string[]> {
  return (await groups.rollouts(groupId)).map(({ status }) => status);
}

/** What the agents were told, in order: binary and version. */
async function told(groupId: string): Promise<string[]> {
  const rollouts = (await groups.rollouts(groupId)).map(({ id }) => id);
  const ours = lab.commands.filter(
    ({ operation, payload }) => operation === 'UPGRADE' && rollouts.some((id) => payload.attemptId.startsWith(id)),
  );
  return ours.map(({ payload }) => `${payload.binaryName} ${payload.targetVersion}`);
}

it('upgrades its components in their order, and the second begins only when the nodes of the first are healthy', async () => {
  const { groupId, nodes } = await groups.scene(2);
  await groups.order(groupId, 'start');
  await groups.untilReason(groupId, 'component_gate');
  const [one = '', two = ''] = nodes;
  await groups.heartbeat(one);
  expect(await statuses(groupId)).toEqual(['completed']);
  await groups.heartbeat(two);
  await groups.until(groupId, 'completed');
  expect(await statuses(groupId)).toEqual(['completed', 'completed']);
  expect(await told(groupId)).toEqual([
    ...Array<string>(2).fill('execution v2.0.0'),
    ...Array<string>(2).fill('companion v2.0.0'),
  ]);
  const owners = await lab.db.selectFrom('active_chains').select('owner_id').where('owner_id', '=', groupId).execute();
  expect(owners).toEqual([]);
});

it('its rollouts are children of its workflow, found by the search attribute GroupID (spec)', async () => {
  const { groupId } = await groups.companionsTurn('manual', () => 'silent');
  const [first] = await groups.rollouts(groupId);
  const { raw } = await lab.client.workflow.getHandle(rolloutWorkflowId(first?.id ?? '')).describe();
  expect(raw.workflowExecutionInfo?.parentExecution?.workflowId).toBe(groupWorkflowId(groupId));
  await lab.waitFor('both rollouts and the group', async () => {
    const found = new Set<string>();
    for await (const { type } of lab.client.workflow.list({ query: `GroupID = '${groupId}'` })) found.add(type);
    return found.has('RolloutGroupWorkflow') && found.has('RolloutWorkflow');
  });
  await groups.order(groupId, 'cancel');
  lab.script = {};
  await groups.until(groupId, 'canceled');
});

describe('failure_policy partial_ok', () => {
  it('a second component that fails leaves the first one upgraded and the group partial', async () => {
    const { groupId } = await groups.companionsTurn('partial_ok', fails);
    const group = await groups.until(groupId, 'partial', 'completed', 'failed', 'paused');
    expect(group).toMatchObject({ status: 'partial', status_reason: 'component_failed' });
    expect(await statuses(groupId)).toEqual(['completed', 'failed']);
  });

  it('a first component that fails, however fast, lets no later one begin (C2, field-case 80)', async () => {
    const { groupId } = await groups.scene(2, { failure_policy: 'partial_ok' });
    lab.script.agent = () => FAILS;
    await groups.order(groupId, 'start');
    expect(await groups.until(groupId, 'partial', 'failed', 'completed')).toMatchObject({ status: 'failed' });
    expect(await statuses(groupId)).toEqual(['failed']);
  });
});

describe('failure_policy rollback_all', () => {
  it('takes back the nodes of the component that failed first, then the component before it (C10)', async () => {
    const { groupId } = await groups.companionsTurn('rollback_all', secondFails, ONE_AT_A_TIME);
    const before = await groups.rollouts(groupId);
    expect(await groups.until(groupId, 'rolled_back', 'failed')).toMatchObject({ status: 'rolled_back' });
    const after = await groups.rollouts(groupId);
    expect(after.map(({ status }) => status)).toEqual(['rolled_back', 'rolled_back']);
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id)); // the same rows (C2)
    expect((await told(groupId)).slice(4)).toEqual(['companion v1.0.0', 'execution v1.0.0', 'execution v1.0.0']);
  });

  it('stops where a component can not be brought back: what it stands on is left as it is', async () => {
    const { groupId } = await groups.companionsTurn('rollback_all', secondFails, {
      ...ONE_AT_A_TIME,
      wayBack: () => FAILS,
    });
    const group = await groups.until(groupId, 'rolled_back', 'failed');
    expect(group).toMatchObject({ status: 'failed', status_reason: 'group_rollback_incomplete' });
    expect(await statuses(groupId)).toEqual(['completed', 'failed']);
  });
});

describe('failure_policy manual', () => {
  it('pauses the group with its component, and skip goes on without it', async () => {
    const { groupId } = await groups.companionsTurn('manual', fails);
    expect(await groups.until(groupId, 'paused', 'partial', 'failed')).toMatchObject({
      status: 'paused',
      status_reason: 'component_paused',
    });
    expect(await statuses(groupId)).toEqual(['completed', 'paused']);
    await groups.order(groupId, 'skip');
    expect(await groups.until(groupId, 'completed', 'failed', 'canceled')).toMatchObject({ status: 'completed' });
    expect(await statuses(groupId)).toEqual(['completed', 'canceled']);
  });

  it('resume resumes the component: its failures so far count as known (C5)', async () => {
    const { groupId } = await groups.companionsTurn('manual', secondFails, ONE_AT_A_TIME);
    await groups.until(groupId, 'paused');
    await groups.order(groupId, 'resume');
    await groups.until(groupId, 'completed');
    expect((await groups.rollouts(groupId))[1]).toMatchObject({ succeeded_nodes: 1, failed_nodes: 1 });
  });

  it('rollback takes the whole group back', async () => {
    const { groupId } = await groups.companionsTurn('manual', secondFails, ONE_AT_A_TIME);
    await groups.until(groupId, 'paused');
    await groups.order(groupId, 'rollback');
    await groups.until(groupId, 'rolled_back');
    expect(await statuses(groupId)).toEqual(['rolled_back', 'rolled_back']);
  });
});

describe('the gate', () => {
  it('that does not open in its time is a failure of the component: the policy decides (field-case 87)', async () => {
    const { groupId, nodes } = await groups.scene(1, { failure_policy: 'manual', gate_timeout_ms: 300 });
    await groups.order(groupId, 'start');
    const paused = await groups.until(groupId, 'paused');
    expect(paused.status_reason).toBe('component_unhealthy');
    await heartbeats(nodes);
    await groups.order(groupId, 'resume');
    await groups.until(groupId, 'completed');
  });

  it('is not asked about a component that a person skipped', async () => {
    const { groupId } = await groups.scene(1);
    await groups.order(groupId, 'start');
    await groups.untilReason(groupId, 'component_gate');
    await groups.order(groupId, 'skip');
    await groups.until(groupId, 'completed');
    expect(await statuses(groupId)).toEqual(['completed', 'completed']);
  });
});

describe('controls', () => {
  it('pause lets the nodes in flight end and begins nothing; resume goes on', async () => {
    const { groupId } = await groups.companionsTurn('manual', () => 'silent', ONE_AT_A_TIME);
    await lab.waitFor('the command', async () => (await told(groupId)).length === 3);
    await groups.order(groupId, 'pause');
    await groups.untilReason(groupId, 'component_pausing');
    lab.script = {};
    expect(await groups.until(groupId, 'paused')).toMatchObject({ status_reason: 'paused_by_operator' });
    expect(await told(groupId)).toHaveLength(3);
    await groups.order(groupId, 'resume');
    await groups.until(groupId, 'completed');
  });

  it('cancel ends the component and begins no later one', async () => {
    const { groupId, nodes } = await groups.scene(2, ONE_AT_A_TIME);
    lab.script.agent = () => 'silent';
    await groups.order(groupId, 'start');
    await lab.waitFor('the command', async () => (await told(groupId)).length === 1);
    await groups.order(groupId, 'cancel');
    lab.script = {};
    await groups.until(groupId, 'canceled');
    expect(await statuses(groupId)).toEqual(['canceled']);
    await heartbeats(nodes);
  });

  it('rollback opens a completed group again, on the same rows', async () => {
    const { groupId } = await groups.companionsTurn('manual', () => ({ outcome: 'completed' }));
    await groups.until(groupId, 'completed');
    await groups.order(groupId, 'rollback');
    await groups.until(groupId, 'rolled_back');
    expect(await told(groupId)).toHaveLength(8);
    expect((await told(groupId)).slice(4, 6)).toEqual(['companion v1.0.0', 'companion v1.0.0']);
  });

  it('signals sent by hand are stored as controls by the next question, once each (C7a)', async () => {
    const { groupId } = await groups.companionsTurn('manual', () => 'silent', ONE_AT_A_TIME);
    const handle = lab.client.workflow.getHandle(groupWorkflowId(groupId));
    await handle.signal('pause');
    await groups.untilReason(groupId, 'component_pausing');
    await handle.signal('resume');
    await groups.untilReason(groupId, 'component_running');
    await handle.signal('skip');
    await groups.untilReason(groupId, 'component_skipping');
    lab.script = {};
    await groups.until(groupId, 'completed');
    const controls = await lab.db
      .selectFrom('rollout_group_controls')
      .select(['kind', 'component_index'])
      .where('group_id', '=', groupId)
      .where('actor', '=', 'signal:temporal')
      .orderBy('seq')
      .execute();
    expect(controls).toEqual([
      { kind: 'pause', component_index: null },
      { kind: 'resume', component_index: null },
      { kind: 'skip', component_index: 1 },
    ]);
  });
});

describe('losses', () => {
  it('a group workflow terminated in the middle is revived by the sweep and goes on where the rows are', async () => {
    const { groupId } = await groups.companionsTurn('manual', () => 'silent');
    await lab.waitFor('the commands', async () => (await told(groupId)).length === 4);
    await lab.client.workflow.getHandle(groupWorkflowId(groupId)).terminate('lost');
    lab.script = {};
    await groups.untilComponent(groupId, 1, 'completed');
    await sweep(lab.db, 600_000);
    await groups.until(groupId, 'completed');
    expect(await told(groupId)).toHaveLength(4);
  });

  it('the answer that begins a component is lost with its worker: the rollout is started all the same', async () => {
    const { groupId, nodes } = await groups.scene(1);
    await groups.order(groupId, 'start');
    await groups.untilReason(groupId, 'component_gate');
    await lab.stopWorker();
    await heartbeats(nodes);
    expect(await updateGroupProgress(lab.db, lab.sources(), groupId, [])).toMatchObject({ kind: 'start_component' });
    await lab.startWorker();
    await lab.db.updateTable('engine_messages').set({ next_attempt_at: new Date() }).execute(); // its time has passed
    await groups.until(groupId, 'completed');
    expect(await told(groupId)).toEqual(['execution v2.0.0', 'companion v2.0.0']);
  });

  it('a worker that restarts at the gate forgets nothing', async () => {
    const { groupId, nodes } = await groups.scene(2);
    await groups.order(groupId, 'start');
    await groups.untilReason(groupId, 'component_gate');
    await lab.stopWorker();
    await heartbeats(nodes);
    await lab.startWorker();
    await groups.until(groupId, 'completed');
    expect(await told(groupId)).toHaveLength(4);
  });
});
