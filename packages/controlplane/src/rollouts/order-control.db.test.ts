import type { Problem } from '@hoodcloud/contracts/http/problem';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { CONTROL_LEGAL_IN, ROLLOUT_CONTROLS, type RolloutControlKind } from '@hoodcloud/domain/rollout-control';
import { ROLLOUT_STATUSES, type RolloutStatus } from '@hoodcloud/domain/rollout-status';
import { checksumOf, insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, ApiFixture, TEST_PROFILE } from '../http/testing/api-fixture.ts';

let api: ApiFixture;
/** Of every rollout of these tests: the canary, one that failed, one whose turn has not come. */
let nodes: { canary: string; failed: string; waiting: string };

beforeAll(async () => {
  api = await ApiFixture.create();
  await api.writeConfig('testchain/profile.yaml', TEST_PROFILE);
  const { db } = api.database;
  nodes = {
    canary: await insertNode(db, { name: 'canary' }),
    failed: await insertNode(db, { name: 'failed' }),
    waiting: await insertNode(db, { name: 'waiting' }),
  };
});
beforeEach(async () => {
  await api.database.pool.query('truncate active_chains, engine_messages, events; delete from rollouts');
});
afterAll(() => api.dispose());

/** A rollout of a breaking migration in which every control has something to act on, as far as its status allows. */
async function rolloutIn(status: RolloutStatus): Promise<string> {
  const { db } = api.database;
  const id = await insertRollout(db, {
    status,
    strategy: 'canary',
    migration_type: 'breaking',
    targets_resolved_at: new Date(),
    direction: status === 'rolled_back' ? 'rollback' : 'upgrade',
  });
  const ended = { attempt_count: 1, started_at: new Date(1000), ended_at: new Date(2000) };
  await insertRolloutNode(db, id, nodes.canary, { status: 'succeeded', ...ended });
  const direction = status === 'rolled_back' ? 'rollback' : 'upgrade';
  await insertRolloutNode(db, id, nodes.failed, {
    status: 'failed',
    batch_index: 1,
    attempt_direction: direction,
    ...ended,
  });
  await insertRolloutNode(db, id, nodes.waiting, { batch_index: 1 });
  // a pause that has not taken effect, so that a running rollout has something to resume
  if (status === 'running') {
    await db.insertInto('rollout_controls').values({ rollout_id: id, kind: 'pause', actor: 'key:before' }).execute();
  }
  return id;
}

type ControlAnswer = Answer<Partial<Omit<RolloutDetail, 'status'> & Omit<Problem, 'status'>>>;

function order(kind: RolloutControlKind, id: string, query = ''): Promise<ControlAnswer> {
  const body = { reason: 'because' };
  if (kind === 'retry') return api.call('POST', `/rollouts/${id}/nodes/${nodes.failed}/retry${query}`, body);
  if (kind === 'skip') return api.call('POST', `/rollouts/${id}/nodes/${nodes.waiting}/skip${query}`, body);
  return api.call('POST', `/rollouts/${id}/${kind === 'approve_canary' ? 'approve' : kind}${query}`, body);
}

/** What a control left behind. */
async function written(id: string) {
  const { db } = api.database;
  const controls = await db
    .selectFrom('rollout_controls')
    .select(['kind', 'actor', 'reason'])
    .where('rollout_id', '=', id)
    .where('actor', '<>', 'key:before')
    .execute();
  const messages = await db.selectFrom('engine_messages').select(['workflow_id', 'signal']).orderBy('id').execute();
  const events = await db.selectFrom('events').select('kind').where('rollout_id', '=', id).orderBy('id').execute();
  return { controls, messages, events: events.map(({ kind }) => kind) };
}

const cells = ROLLOUT_CONTROLS.flatMap((kind) => ROLLOUT_STATUSES.map((status) => [kind, status] as const));
const legal = cells.filter(([kind, status]) => CONTROL_LEGAL_IN[kind].includes(status));
const illegal = cells.filter(([kind, status]) => !CONTROL_LEGAL_IN[kind].includes(status));

const SIGNAL: Partial<Record<RolloutControlKind, string>> = {
  pause: 'pause',
  resume: 'resume',
  cancel: 'cancel',
  force: 'force',
  approve_canary: 'approve_canary',
};

describe('every control in every status (C6)', () => {
  it.each(legal)('%s is taken from a %s rollout, with who and why, and the engine is told', async (kind, status) => {
    const id = await rolloutIn(status);
    const answer = await order(kind, id);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 200, code: undefined });
    const { controls, messages, events } = await written(id);
    expect(controls).toEqual([{ kind, actor: 'key:test', reason: 'because' }]);
    expect(messages.at(-1)).toEqual({ workflow_id: `rollout-${id}`, signal: SIGNAL[kind] ?? 'wake' });
    expect(events[0]).toBe('rollout_control_ordered');
  });

  it.each(illegal)('%s is refused for a %s rollout with 409, and nothing is written', async (kind, status) => {
    const id = await rolloutIn(status);
    const { status: answered, body } = await order(kind, id);
    expect({ answered, code: body.code, details: body.details }).toEqual({
      answered: 409,
      code: 'control_refused',
      details: { control: kind, reason: 'control_not_legal' },
    });
    expect(body.detail).toContain(status);
    expect(await written(id)).toEqual({ controls: [], messages: [], events: [] });
  });

  it.each(legal)('%s of a %s rollout writes nothing in a dry run', async (kind, status) => {
    const id = await rolloutIn(status);
    expect((await order(kind, id, '?dry_run=true')).status).toBe(200);
    expect(await written(id)).toEqual({ controls: [], messages: [], events: [] });
  });

  it.each(ROLLOUT_STATUSES)('a %s rollout shows which controls it takes now', async (status) => {
    const id = await rolloutIn(status);
    const { body } = await api.call<RolloutDetail>('GET', `/rollouts/${id}`);
    expect(body.legal_controls).toEqual(ROLLOUT_CONTROLS.filter((kind) => CONTROL_LEGAL_IN[kind].includes(status)));
  });
});

it('a rollout shows what its failure threshold compares, and that force ignores it (C5, C6)', async () => {
  const id = await insertRollout(api.database.db, { status: 'running', targets_resolved_at: new Date() });
  for (const [status, attempt_count] of [
    ['failed', 1],
    ['succeeded', 1],
    ['pending', 0],
  ] as const) {
    await insertRolloutNode(api.database.db, id, await insertNode(api.database.db), { status, attempt_count });
  }
  const counts = async () => {
    const { body } = await api.call<RolloutDetail>('GET', `/rollouts/${id}`);
    return [body.attempted_nodes, body.counted_failures, body.threshold_ignored];
  };
  expect(await counts()).toEqual([2, 1, false]);
  await order('force', id);
  expect(await counts()).toEqual([2, 1, true]);
});

describe('start', () => {
  it('makes the rollout running in the same transaction (C13)', async () => {
    const id = await insertRollout(api.database.db);
    const { body } = await order('start', id);
    expect(body).toMatchObject({
      status: 'running',
      status_reason: { code: 'started_by_operator', sentence: 'Started by key:test.' },
    });
    expect((await written(id)).events).toEqual(['rollout_control_ordered', 'rollout_started']);
  });

  it("is refused when no node can be upgraded, with each node's reason (C4)", async () => {
    const id = await insertRollout(api.database.db, { target_binary_checksum: checksumOf('a') });
    const { status, body } = await order('start', id);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'no_eligible_targets' });
    expect(body.errors?.map(({ field, code }) => [field, code])).toEqual(
      expect.arrayContaining(['canary', 'failed', 'waiting'].map((name) => [name, 'already_at_target'])),
    );
    expect(await written(id)).toEqual({ controls: [], messages: [], events: [] });
  });

  it('is refused for a chain without nodes (field-case 83)', async () => {
    const id = await insertRollout(api.database.db, { node_type: 'full' });
    const { body } = await order('start', id);
    expect(body).toMatchObject({ code: 'no_eligible_targets', errors: [] });
  });

  it('happens once when it is ordered twice at the same moment', async () => {
    const id = await insertRollout(api.database.db);
    const answers = await Promise.all([order('start', id), order('start', id)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});

describe('controls that act on rows', () => {
  it('retry wants the next attempt and starts its workflow, also after the rollout has ended (C8)', async () => {
    const id = await rolloutIn('completed');
    await order('retry', id);
    const row = await api.database.db
      .selectFrom('rollout_nodes')
      .select(['status', 'attempt_count', 'requested_attempt', 'attempt_direction'])
      .where('rollout_id', '=', id)
      .where('node_id', '=', nodes.failed)
      .executeTakeFirst();
    expect(row).toEqual({ status: 'failed', attempt_count: 1, requested_attempt: 2, attempt_direction: 'upgrade' });
    expect((await written(id)).messages[0]).toEqual({ workflow_id: `upgrade-${id}-${nodes.failed}`, signal: 'wake' });
  });

  it('skip leaves the node out at once, with who and why', async () => {
    const id = await rolloutIn('running');
    await order('skip', id);
    const row = await api.database.db
      .selectFrom('rollout_nodes')
      .select(['status', 'status_reason', 'status_reason_params'])
      .where('rollout_id', '=', id)
      .where('node_id', '=', nodes.waiting)
      .executeTakeFirst();
    expect(row).toEqual({
      status: 'skipped',
      status_reason: 'skipped_by_operator',
      status_reason_params: { actor: 'key:test', why: 'because' },
    });
  });

  it('resume remembers the failures it acknowledges (C5)', async () => {
    const id = await rolloutIn('paused');
    await order('resume', id);
    const row = await api.database.db
      .selectFrom('rollout_controls')
      .select('failures_acknowledged')
      .where('rollout_id', '=', id)
      .executeTakeFirst();
    expect(row).toEqual({ failures_acknowledged: 1 });
  });

  it.each([
    ['retry', 'waiting', 'node_not_retryable'],
    ['retry', 'canary', 'node_not_retryable'],
    ['skip', 'failed', 'node_not_pending'],
  ] as const)('%s is refused for a node that is not in its state: %s', async (kind, node, reason) => {
    const id = await rolloutIn('running');
    const { status, body } = await api.call<Problem>('POST', `/rollouts/${id}/nodes/${nodes[node]}/${kind}`);
    expect({ status, details: body.details }).toEqual({ status: 409, details: { control: kind, reason } });
  });

  it('retry and rollback are refused once a newer rollout has touched the node (C3, C8)', async () => {
    const id = await rolloutIn('completed');
    const newer = await insertRollout(api.database.db, { status: 'completed' });
    for (const node of [nodes.canary, nodes.failed]) {
      await insertRolloutNode(api.database.db, newer, node, {
        status: 'succeeded',
        attempt_count: 1,
        started_at: new Date(),
      });
    }
    for (const kind of ['retry', 'rollback'] as const) {
      const { status, body } = await order(kind, id);
      expect({ status, reason: body.details?.reason }).toEqual({ status: 409, reason: 'newer_rollout' });
      expect(body.detail).toContain(newer);
    }
  });

  it('a rollout that is being canceled takes nothing but a rollback (field-case 90)', async () => {
    const id = await rolloutIn('running');
    await order('cancel', id);
    for (const kind of ['resume', 'retry', 'skip', 'approve_canary', 'force', 'pause'] as const) {
      const { status, body } = await order(kind, id);
      expect({ kind, status, reason: body.details?.reason }).toEqual({ kind, status: 409, reason: 'canceling' });
    }
    expect((await order('rollback', id)).status).toBe(200);
  });
});

it('says what is not there, and refuses a reason that is too long', async () => {
  const id = '11111111-1111-4111-8111-111111111111';
  expect((await order('pause', id)).body).toMatchObject({ status: 404, code: 'rollout_not_found' });
  const long = await api.call<Problem>('POST', `/rollouts/${await rolloutIn('running')}/pause`, {
    reason: 'x'.repeat(1001),
  });
  expect({ status: long.status, field: long.body.errors?.[0]?.field }).toEqual({ status: 400, field: 'body.reason' });
});
