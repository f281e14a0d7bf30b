import { runAgainst } from '@hoodcloud/cli/testing/cli-run';
import { ApiFixture } from '@hoodcloud/controlplane/http/testing/api-fixture';
import { ROLLOUT_STATUSES, type RolloutStatus } from '@hoodcloud/domain/rollout-status';
import { insertNode, insertRollout, insertRolloutNode } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Where each command is allowed for a breaking canary rollout with a succeeded, a failed and a pending node (C3, C6, C8). */
const ALLOWED: Readonly<Record<string, readonly RolloutStatus[]>> = {
  start: ['pending'],
  pause: ['running'],
  resume: ['paused'], // and running, when a pause is pending
  approve: ['running', 'paused'],
  cancel: ['pending', 'running', 'paused'],
  force: ['pending', 'running', 'paused'],
  rollback: ['running', 'paused', 'completed', 'failed', 'canceled'],
  retry: ['running', 'paused', 'completed', 'failed', 'rolled_back'],
  skip: ['pending', 'running', 'paused'],
};
const NODE_OF: Readonly<Record<string, string>> = { retry: 'failed', skip: 'pending' };

let api: ApiFixture;
let connection: readonly string[];
beforeAll(async () => {
  api = await ApiFixture.create();
  const url = await api.app.listen({ port: 0, host: '127.0.0.1' });
  connection = ['--url', url, '--api-key', api.key];
});
afterAll(() => api.dispose());

let chains = 0;

/** A rollout in that status on a chain of its own; its nodes are named after their status. */
async function rolloutThatIs(status: RolloutStatus): Promise<{ id: string; node: (name: string) => string }> {
  chains += 1;
  const chain = `chain-${chains}`;
  const id = await insertRollout(api.database.db, {
    chain_profile_id: chain,
    status,
    strategy: 'canary',
    migration_type: 'breaking',
    targets_resolved_at: new Date(),
  });
  for (const [batch, name] of ['succeeded', 'failed', 'pending'].entries()) {
    const node = await insertNode(api.database.db, { name: `${chain}-${name}`, chain_profile_id: chain });
    const row = { batch_index: batch, status: name as 'pending', attempt_count: name === 'pending' ? 0 : 1 };
    await insertRolloutNode(api.database.db, id, node, row);
  }
  return { id, node: (name) => `${chain}-${name}` };
}

async function order(control: string, status: RolloutStatus, ...more: string[]) {
  const { id, node } = await rolloutThatIs(status);
  const words = NODE_OF[control] ? [id, node(NODE_OF[control])] : [id];
  return { id, ...(await runAgainst(fetch, ['rollout', control, ...words, ...more, ...connection])) };
}

describe.each(Object.entries(ALLOWED))('hoodctl rollout %s', (control, allowed) => {
  it.each(allowed)('is allowed while the rollout is %s', async (status) => {
    expect(await order(control, status, '--dry-run')).toMatchObject({ code: 0, out: '' });
  });

  it.each(ROLLOUT_STATUSES.filter((status) => !allowed.includes(status)))(
    'is refused with a sentence while the rollout is %s',
    async (status) => {
      const { code, err } = await order(control, status, '--dry-run');
      expect(code).toBe(1);
      expect(err).toMatch(/^✗ .+\.\n/);
    },
  );
});

it('orders nothing when it is only asked whether it may', async () => {
  const { id } = await order('cancel', 'running', '--dry-run');
  const controls = await api.database.db
    .selectFrom('rollout_controls')
    .selectAll()
    .where('rollout_id', '=', id)
    .execute();
  expect(controls).toEqual([]);
});

it('stores who ordered what, and why', async () => {
  const { id } = await order('force', 'running', '--reason', 'a fork is near');
  const controls = await api.database.db
    .selectFrom('rollout_controls')
    .select(['kind', 'actor', 'reason'])
    .where('rollout_id', '=', id)
    .execute();
  expect(controls).toEqual([{ kind: 'force', actor: 'key:test', reason: 'a fork is near' }]);
});
