import { DomainError } from '@hoodcloud/domain/errors';
import { reason } from '@hoodcloud/domain/reasons';
import { RolloutLab } from '@hoodcloud/testkit/rollout-lab';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { nodeUpgradeActivities } from '../rollouts/node-upgrade-activities.ts';
import { nodeWorkflowId } from './workflow-ids.ts';

let lab: RolloutLab;
beforeAll(async () => {
  lab = await RolloutLab.open();
});
afterAll(() => lab.close());
beforeEach(() => {
  lab.script = {};
});

const AFTER_HEALTH = JSON.stringify([
  {
    name: 'check',
    at: 'after_health',
    command: ['{binary}', 'check'],
    timeoutMs: 60_000,
    undo: null,
    repeatable: false,
  },
]);

const UNHEALTHY = [reason('crash_loop', { restarts: 4 })];

/** Runs a rollout over one node to its pause or end, and answers what became of the node. */
async function attempt(rollout: Parameters<RolloutLab['scene']>[1] = {}) {
  const { rolloutId, nodes } = await lab.scene(1, rollout);
  const [nodeId = ''] = nodes;
  await lab.start(rolloutId);
  await lab.until(rolloutId, 'completed', 'paused', 'failed');
  return {
    rolloutId,
    nodeId,
    row: await lab.row(rolloutId, nodeId),
    node: await lab.nodeState(nodeId),
    incidents: await lab.db.selectFrom('incidents').selectAll().where('node_id', '=', nodeId).execute(),
    operations: lab.commands.filter((one) => one.nodeId === nodeId).map((one) => one.operation),
  };
}

it('agent undid it: the row is rolled_back, the node has its state back, no incident', async () => {
  lab.script.agent = () => ({ outcome: 'rolled_back', error: 'it panics' });
  const { row, node, incidents, operations } = await attempt();
  expect(row).toMatchObject({
    status: 'rolled_back',
    upgrade_phase: 'ROLLED_BACK',
    status_reason: 'upgrade_rolled_back',
    error_message: 'The upgrade failed and was undone: it panics',
    log_tail: ['it panics'],
  });
  expect(node).toEqual({ state: 'healthy', prior_state: null, maintenance_owner: null });
  expect(incidents).toEqual([]);
  expect(operations).toEqual(['UPGRADE']);
});

it('agent refused: nothing was touched, the row says why', async () => {
  lab.script.agent = () => ({ outcome: 'refused', error: 'the disk is full' });
  const { row, node } = await attempt();
  expect(row).toMatchObject({ status: 'failed', status_reason: 'upgrade_refused' });
  expect(row.error_message).toContain('the disk is full');
  expect(node.state).toBe('healthy');
});

it('configs that can not be rendered fail the attempt before anything is sent', async () => {
  let asked = 0;
  lab.script.configs = () => {
    asked += 1;
    if (asked > 1) throw new DomainError('template_error', 'app.toml.tmpl:3:5: no variable "max_peers"');
    return [];
  };
  const { row, node, operations } = await attempt();
  expect(row).toMatchObject({ status: 'failed', status_reason: 'internal_error' });
  expect(row.error_message).toContain('app.toml.tmpl:3:5: no variable "max_peers"');
  expect(node.state).toBe('healthy');
  expect(operations).toEqual([]);
});

it('configs that no node can have fail the rollout with the sentence, before any node is touched', async () => {
  lab.script.configs = () => {
    throw new DomainError('template_error', 'app.toml.tmpl:3:5: no variable "max_peers"');
  };
  const { rolloutId } = await lab.scene(2);
  await lab.start(rolloutId);
  const rollout = await lab.until(rolloutId, 'completed', 'paused', 'failed');
  expect(rollout).toMatchObject({ status: 'failed', status_reason: 'internal_error', total_nodes: 0 });
  expect(rollout.status_reason_params).toEqual({ error: 'app.toml.tmpl:3:5: no variable "max_peers"' });
});

it('agent could not undo it: FAILED_ROLLBACK, degraded, one critical incident with the recovery plan (C9)', async () => {
  lab.script.agent = () => ({ outcome: 'failed_rollback', error: 'backup is gone' });
  const { row, node, incidents } = await attempt({ recovery_plan: 'restore from snapshot' });
  expect(row).toMatchObject({ status: 'failed', upgrade_phase: 'FAILED_ROLLBACK', status_reason: 'failed_rollback' });
  expect(node.state).toBe('degraded');
  expect(incidents).toMatchObject([
    { category: 'upgrade_failed', severity: 'critical', recovery_plan: 'restore from snapshot' },
  ]);
});

it('health is not proved: compensated; the row is failed with phase ROLLED_BACK and the old version is recorded (C10b)', async () => {
  lab.script.health = () => UNHEALTHY;
  const { row, node, nodeId, incidents, operations } = await attempt();
  expect(row).toMatchObject({ status: 'failed', upgrade_phase: 'ROLLED_BACK', status_reason: 'health_failed' });
  expect(row.error_message).toContain('4 restarts');
  expect(node.state).toBe('healthy');
  expect(incidents).toEqual([]);
  expect(operations).toEqual(['UPGRADE', 'COMPENSATE']);
  const state = await lab.db
    .selectFrom('node_config_state')
    .select(['binary_version', 'binary_checksum'])
    .where('node_id', '=', nodeId)
    .executeTakeFirst();
  expect(state).toEqual({ binary_version: 'v1.0.0', binary_checksum: `sha256:${'a'.repeat(64)}` });
});

it.each([
  ['rolled_back', { status: 'failed', upgrade_phase: 'ROLLED_BACK', status_reason: 'health_failed' }, 'healthy'],
  [
    'failed_rollback',
    { status: 'failed', upgrade_phase: 'FAILED_ROLLBACK', status_reason: 'failed_rollback' },
    'degraded',
  ],
] as const)(
  "a vendor's step after the proof of health fails: as a node that does not get healthy, %s (ADR 0046)",
  async (outcome, ended, state) => {
    lab.script.agent = ({ operation }) =>
      operation === 'CONFIRM' ? { outcome, error: 'the step said no' } : { outcome: 'completed' };
    const { row, node, operations } = await attempt({ hooks: AFTER_HEALTH });
    expect(row).toMatchObject(ended);
    expect(row.error_message).toContain('the step said no');
    expect(node.state).toBe(state);
    expect(operations).toEqual(['UPGRADE', 'CONFIRM']);
  },
);

it("waits for a vendor's step after the proof of health, and for no other confirmation", async () => {
  const { row, operations } = await attempt({ hooks: AFTER_HEALTH });
  expect(row).toMatchObject({ status: 'succeeded', status_reason: 'health_passed' });
  expect(operations).toEqual(['UPGRADE', 'CONFIRM']);
  lab.script.agent = ({ operation }) => (operation === 'CONFIRM' ? 'silent' : { outcome: 'completed' });
  expect((await attempt()).row.status).toBe('succeeded');
});

it('a proof of health takes as long as the rollout says, and is not tried again (spec, Activity Profiles)', async () => {
  lab.script.health = () => UNHEALTHY;
  const { nodeId } = await attempt({ health_wait_ms: 4321 });
  const proofs = await lab.db.selectFrom('health_validations').selectAll().where('node_id', '=', nodeId).execute();
  expect(proofs).toEqual([expect.objectContaining({ health_wait_ms: 4321, status: 'failed' })]);
  const workflow = lab.client.workflow.getHandle(nodeWorkflowId(proofs[0]?.rollout_id ?? '', nodeId));
  const { events } = await workflow.fetchHistory();
  const asked = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: one }) =>
    one?.activityType?.name === 'WaitForHealthValidation' ? [one] : [],
  );
  // the row decides when the time is over; the engine comes five minutes later, should nobody have told it
  expect(asked.map(({ scheduleToCloseTimeout }) => Number(scheduleToCloseTimeout?.seconds))).toEqual([304]);
});

it('health is not proved and the undo fails: FAILED_ROLLBACK and the incident', async () => {
  lab.script.health = () => UNHEALTHY;
  lab.script.agent = ({ operation }) =>
    operation === 'UPGRADE' ? { outcome: 'completed' } : { outcome: 'failed_rollback', error: 'backup is gone' };
  const { row, node, incidents } = await attempt();
  expect(row).toMatchObject({ status: 'failed', upgrade_phase: 'FAILED_ROLLBACK' });
  expect(node.state).toBe('degraded');
  expect(incidents).toHaveLength(1);
});

it('the agent is silent past its deadline: expired, failed as agent_unreachable (B5a, field-case 125)', async () => {
  lab.script.agent = () => 'silent';
  const { rolloutId, nodes } = await lab.scene(1);
  const [nodeId = ''] = nodes;
  await lab.start(rolloutId);
  const [command] = await lab.waitFor('the command', async () => {
    const found = lab.commandsOf(rolloutId, 'UPGRADE');
    return found.length > 0 && found;
  });
  await lab.db
    .updateTable('agent_commands')
    .set({ deadline_at: new Date() })
    .where('id', '=', command?.id ?? '')
    .execute();
  await lab.until(rolloutId, 'paused');
  expect(await lab.row(rolloutId, nodeId)).toMatchObject({ status: 'failed', status_reason: 'agent_unreachable' });
  expect((await lab.nodeState(nodeId)).state).toBe('down');
});

it('a node that was stopped is upgraded, left stopped, and not validated (A3)', async () => {
  lab.script.agent = () => ({ outcome: 'completed', leftStopped: true });
  lab.script.health = () => UNHEALTHY;
  const { row, node } = await attempt();
  expect(row).toMatchObject({ status: 'succeeded', status_reason: 'left_stopped', left_stopped: true });
  expect(node.state).toBe('healthy');
});

it('skip_validation: succeeds without a proof of health, and says so', async () => {
  lab.script.health = () => UNHEALTHY;
  const { row } = await attempt({ skip_validation: true });
  expect(row).toMatchObject({ status: 'succeeded', status_reason: 'validation_skipped' });
});

it('carries the search attributes and, while it waits, the heartbeat details of the specification', async () => {
  lab.script.agent = () => 'silent';
  const { rolloutId, nodes } = await lab.scene(1);
  const [nodeId = ''] = nodes;
  await lab.start(rolloutId);
  const command = await lab.waitFor('the command', async () => lab.commandsOf(rolloutId, 'UPGRADE')[0]);
  await lab.db
    .updateTable('agent_commands')
    .set({ action_index: 3, action_name: 'stop_node', progress_pct: 40, progress_at: new Date() })
    .where('id', '=', command.id)
    .execute();
  const handle = lab.client.workflow.getHandle(nodeWorkflowId(rolloutId, nodeId));
  const details = await lab.waitFor('a heartbeat with progress', async () => {
    const { raw } = await handle.describe();
    const waiting = raw.pendingActivities?.find((activity) => activity.activityId === command.id);
    const data = waiting?.heartbeatDetails?.payloads?.[0]?.data;
    const shown = data ? (JSON.parse(Buffer.from(data).toString()) as { action_name: string | null }) : null;
    return shown?.action_name ? shown : null;
  });
  expect(details).toEqual({ action_index: 3, action_name: 'stop_node', progress_pct: 40 });
  const { searchAttributes } = await handle.describe();
  expect(searchAttributes).toMatchObject({
    NodeID: [nodeId],
    RolloutID: [rolloutId],
    CorrelationID: [`${rolloutId}.${nodeId}.1`],
  });
  lab.script = {};
  await lab.until(rolloutId, 'completed');
});

it('last steps run again after a killed worker find the attempt ended and change nothing (C13)', async () => {
  const { rolloutId, nodeId } = await attempt({ skip_validation: true });
  const remembered = async () => [await lab.row(rolloutId, nodeId), await lab.nodeState(nodeId)];
  const before = await remembered();
  const chains = {
    maxBlockIntervalMs: async () => null,
    trustRules: async () => null,
    heightMetric: async () => 'height',
    stableMs: async () => null,
    runtime: async () => null,
  };
  const steps = nodeUpgradeActivities(lab.db, { chains, renderConfigs: async () => new Map() });
  const ref = { rolloutId, nodeId, attempt: 1 };
  expect(await steps.UpdateNodeBinaryVersion(ref)).toEqual({ kind: 'skip', why: 'skip_validation' });
  await steps.SendUpgradeCommand({ ...ref, operation: 'CONFIRM' });
  await steps.UpdateNodeState({ ...ref, to: 'syncing' });
  await steps.MarkNodeUpgradeSucceeded(ref);
  expect(await remembered()).toEqual(before);
  await expect(steps.SendUpgradeCommand({ ...ref, operation: 'COMPENSATE' })).rejects.toMatchObject({
    details: ['attempt_not_under_way'],
  });
});
