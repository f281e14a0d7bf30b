import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Reconciler } from '../feature.ts';
import type { ChainHealth } from './chain-health.ts';
import { ChainJudges } from './chain-judges.ts';
import { healthValidation } from './health-validation.ts';
import { chainHealth, HealthFixture, OLD } from './testing/health-fixture.ts';

let fixture: HealthFixture;
let validator: Reconciler;
beforeAll(async () => {
  fixture = await HealthFixture.create();
});
beforeEach(async () => {
  validator = validatorFor(chainHealth());
  // Only the test's own validation is open.
  await fixture.db.deleteFrom('health_validations').execute();
  await fixture.db.deleteFrom('chain_heights').execute();
});
afterAll(() => fixture.dispose());

function validatorFor(health: ChainHealth | null): Reconciler {
  return healthValidation(fixture.services, new ChainJudges(() => Promise.resolve(health), fixture.services.log));
}

async function upgradedNode() {
  const node = await fixture.node({ state: 'healthy' });
  return { node, id: await fixture.validation(node.nodeId) };
}

function messagesTo(id: string) {
  return fixture.db.selectFrom('engine_messages').select('workflow_id').where('activity_id', '=', id).execute();
}

function incidentsOf(nodeId: string) {
  return fixture.db
    .selectFrom('incidents')
    .select(['category', 'severity', 'summary'])
    .where('node_id', '=', nodeId)
    .execute();
}

it('passes a node that shows the new version alive for the whole time, and tells the engine', async () => {
  const { node, id } = await upgradedNode();
  await fixture.beats(node, 5, 30);
  await validator.run(fixture.at(29));
  expect(await fixture.validationRow(id)).toMatchObject({ status: 'open', codes: ['health_window'] });
  expect(await validator.run(fixture.at(31))).toBe(1);
  const row = await fixture.validationRow(id);
  expect(row).toMatchObject({ status: 'passed', codes: ['health_passed'] });
  expect(row.ended_at).not.toBeNull();
  expect(await messagesTo(id)).toEqual([{ workflow_id: row.workflow_id }]);
  expect(await incidentsOf(node.nodeId)).toEqual([]);
});

it('ends a validation once when two instances judge at the same moment', async () => {
  const { node, id } = await upgradedNode();
  await fixture.beats(node, 5, 30);
  // Each asks for the chain's rules after it has read the open rows: all have read them before one goes on.
  const arrived: (() => void)[] = [];
  const meet = () =>
    new Promise<void>((resolve) => {
      arrived.push(resolve);
      if (arrived.length === 3) for (const goOn of arrived) goOn();
    });
  const judges = () => new ChainJudges(() => meet().then(() => chainHealth()), fixture.services.log);
  const runs = [1, 2, 3].map(() => healthValidation(fixture.services, judges()));
  const ended = await Promise.all(runs.map((one) => one.run(fixture.at(31))));
  expect(ended.reduce((sum, one) => sum + one, 0)).toBe(1);
  expect(await messagesTo(id)).toHaveLength(1);
});

it('fails a crash loop at once, before the time is over, with the number of restarts (D3, field-case 134)', async () => {
  const { node, id } = await upgradedNode();
  await fixture.beats(node, 5, 15, (at) => ({ component: { restarts: at / 2.5, mainPid: 100 + at } }));
  await validator.run(fixture.at(16));
  expect(await fixture.validationRow(id)).toMatchObject({
    status: 'failed',
    reasons: [{ code: 'crash_loop', params: { restarts: 4 } }],
  });
  expect(await incidentsOf(node.nodeId)).toEqual([]);
});

it('counts no more restarts than the chain allows as a crash loop', async () => {
  validator = validatorFor(chainHealth({ max_restarts: 10 }));
  const { node, id } = await upgradedNode();
  await fixture.beats(node, 5, 15, (at) => ({ component: { restarts: at / 2.5, mainPid: 100 + at } }));
  await validator.run(fixture.at(16));
  expect((await fixture.validationRow(id)).status).toBe('open');
});

it('counts restarts from the number in the result: those that the start tolerated are none of its own (D3)', async () => {
  const { node, id } = await upgradedNode();
  await fixture.resultOf(id, { restarts: 7 });
  await fixture.beats(node, 5, 10, () => ({ component: { restarts: 7, mainPid: 100 } }));
  await validator.run(fixture.at(11));
  expect((await fixture.validationRow(id)).status).toBe('open');
  const other = await upgradedNode();
  await fixture.resultOf(other.id, { restarts: 7 });
  await fixture.beat(other.node, { at: 5, component: { restarts: 11, mainPid: 104 } });
  await validator.run(fixture.at(6));
  expect(await fixture.validationRow(other.id)).toMatchObject({
    reasons: [{ code: 'crash_loop', params: { restarts: 4 } }],
  });
});

it('fails a node without a main process for 10 s (field-case 123)', async () => {
  const { node, id } = await upgradedNode();
  await fixture.beats(node, 5, 10, () => ({ component: { mainPid: 0, active: false, runningChecksum: '' } }));
  await validator.run(fixture.at(11));
  expect((await fixture.validationRow(id)).status).toBe('open');
  await fixture.beat(node, { at: 15, component: { mainPid: 0, active: false, runningChecksum: '' } });
  await validator.run(fixture.at(16));
  expect(await fixture.validationRow(id)).toMatchObject({ status: 'failed', codes: ['no_main_process'] });
});

it('fails a node on which the old version runs, and says which', async () => {
  const { node, id } = await upgradedNode();
  await fixture.beats(node, 5, 30, () => ({ component: { runningChecksum: OLD } }));
  await validator.run(fixture.at(31));
  expect(await fixture.validationRow(id)).toMatchObject({
    status: 'failed',
    reasons: [{ code: 'wrong_version_running', params: { actual: OLD } }],
  });
});

it('raises upgrade_stalled when the time is over and the node lives but is not proved', async () => {
  const { node } = await upgradedNode();
  await fixture.beats(node, 5, 30, () => ({ judged: { application_health: 'unknown' } }));
  await validator.run(fixture.at(31));
  const incidents = await incidentsOf(node.nodeId);
  expect(incidents).toMatchObject([{ category: 'upgrade_stalled', severity: 'warning' }]);
  expect(incidents[0]?.summary).toMatch(/did not prove healthy in time\. application_health is unknown/);
});

it('waits for a heartbeat past the time, then fails with the reason', async () => {
  const { node, id } = await upgradedNode();
  await validator.run(fixture.at(31));
  expect(await fixture.validationRow(id)).toMatchObject({ status: 'open', codes: ['no_fresh_heartbeat'] });
  await validator.run(fixture.at(61));
  expect(await fixture.validationRow(id)).toMatchObject({ status: 'failed', codes: ['no_fresh_heartbeat'] });
  expect(await incidentsOf(node.nodeId)).toEqual([]);
});

it('counts no heartbeat that was received before the result, or on an earlier session (D1)', async () => {
  const { node, id } = await upgradedNode();
  await fixture.beats(node, -30, 0);
  const old = node.sessionId;
  await fixture.beats(node, 5, 30);
  await fixture.session(node.nodeId);
  await validator.run(fixture.at(31));
  expect(await fixture.validationRow(id)).toMatchObject({ status: 'open', codes: ['no_fresh_heartbeat'] });
  await fixture.beat(node, { at: 32, sessionId: old });
  await validator.run(fixture.at(61));
  expect((await fixture.validationRow(id)).codes).toEqual(['no_fresh_heartbeat']);
});

it('fails a node that stands while its chain grows', async () => {
  const { node, id } = await upgradedNode();
  await fixture.chainHeight(50, 30);
  await fixture.beats(node, 5, 30, () => ({ judged: { sync_status: 'stalled' } }));
  await validator.run(fixture.at(31));
  expect(await fixture.validationRow(id)).toMatchObject({ status: 'failed', codes: ['sync_stalled'] });
});

it('never fails a node for a chain that stands (D4a)', async () => {
  const { node, id } = await upgradedNode();
  await fixture.chainHeight(50, -60);
  await fixture.beats(node, 5, 30, () => ({ judged: { sync_status: 'stalled' } }));
  await validator.run(fixture.at(31));
  expect((await fixture.validationRow(id)).status).toBe('passed');
});

it.each([
  [null, 'failed', ['not_ready']],
  [false, 'failed', ['not_ready']],
  [true, 'passed', ['health_passed']],
])('with a ready_expression whose answer is %s it is %s (D4b)', async (ready, status, codes) => {
  validator = validatorFor(chainHealth({ ready_expression: 'metrics.signed > 0' }));
  const { node, id } = await upgradedNode();
  await fixture.chainHeight(50, 30);
  await fixture.beats(node, 5, 30, () => ({ judged: { ready } }));
  await validator.run(fixture.at(31));
  expect(await fixture.validationRow(id)).toMatchObject({ status, codes });
});

it('forgives one bad reading (D4, field-case 122)', async () => {
  const { node, id } = await upgradedNode();
  await fixture.beats(node, 5, 40, (at) => (at === 20 ? { judged: { application_health: 'critical' } } : {}));
  await validator.run(fixture.at(41));
  expect((await fixture.validationRow(id)).status).toBe('passed');
});

it('judges 500 open validations in one tick', async () => {
  const { node, id } = await upgradedNode();
  await fixture.beats(node, 5, 30);
  await addCopies(id, 499);
  expect(await validator.run(fixture.at(31))).toBe(500);
});

/** More validations of the same node: their attempts differ. */
function addCopies(id: string, copies: number): Promise<unknown> {
  return fixture.database.pool.query(
    `insert into health_validations (node_id, rollout_id, rollout_node_id, attempt_id, binary_name, expected_checksum,
            health_wait_ms, workflow_id, since)
     select node_id, rollout_id, rollout_node_id, attempt_id || copy, binary_name, expected_checksum, health_wait_ms,
            workflow_id, since
       from health_validations, generate_series(1, $2::int) copy where id = $1`,
    [id, copies],
  );
}
