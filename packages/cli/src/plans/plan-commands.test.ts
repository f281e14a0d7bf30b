import { expect, it } from 'vitest';
import { runWith } from '../testing/cli-run.ts';
import { planView, ROLLOUT_ID, rolloutView, savedPlanView } from '../testing/sample-views.ts';

const DIFF = '--- /etc/c.toml\tnow\n+++ /etc/c.toml\tplanned\n@@ -1,1 +1,1 @@\n-peers = 10\n+peers = 40\n';
const RICH = planView({
  hooks: [{ name: 'compact', at: 'after_install', command: ['{binary}', 'db'], timeout_ms: 60_000, undo: null }],
  config_paths: ['/etc/c.toml'],
  config_diffs: [
    {
      path: '/etc/c.toml',
      change: 'changed',
      nodes: [{ node_id: ROLLOUT_ID, node_name: 'validator-1' }],
      current_checksum: 'sha256:01',
      planned_checksum: 'sha256:02',
      edited_on_host: false,
      diff: DIFF,
      remark: null,
    },
    {
      path: '/etc/d.toml',
      change: 'changed',
      nodes: [{ node_id: ROLLOUT_ID, node_name: 'validator-1' }],
      current_checksum: 'sha256:03',
      planned_checksum: 'sha256:04',
      edited_on_host: true,
      diff: null,
      remark: 'The content that stands there now is not known here.',
    },
  ],
  artifact_checks: [
    {
      platform: null,
      url: 'http://releases.test/noded',
      checksum: 'sha256:aa',
      state: 'reachable',
      size_bytes: 96_900_000,
      remark: null,
    },
  ],
  estimate: { past_upgrades: 14, node_ms: 80_000, downtime_ms: 2100, rollout_ms: 320_000 },
  schedule: { first_start_at: '2026-12-05T21:00:00.000Z', holds: [{ sentence: 'Frozen until then.', nodes: 3 }] },
  shares: [
    { measure: 'nodes', zone: null, batch_index: 1, down: 2, total: 5 },
    { measure: 'nodes', zone: 'eu', batch_index: 1, down: 1, total: 2 },
  ],
});

it('a plan shows diffs, what the artifact is, how long it takes and how much is down at once', async () => {
  const { out, code } = await runWith(
    () => ({ body: RICH }),
    ...'rollout plan --chain=demo --type=validator --strategy=canary'.split(' '),
  );
  expect(code).toBe(4);
  for (const line of [
    "Vendor's steps  compact after the install, before the start: {binary} db (at most 60 s; nothing undoes it)",
    'Found           92.4 MB, reachable from here',
    'Duration        about 5 min 20 s in all, 1 min 20 s a node, 2.1 s of it down (by the median of 14 past upgrades)',
    'First start     2026-12-05T21:00:00.000Z. Now: Frozen until then. (3 nodes)',
    'Down at once    all: 2 of 5 nodes (40 %) in batch 1; zone eu: 1 of 2 nodes (50 %) in batch 1',
    '/etc/c.toml changes on validator-1',
    '  -peers = 10',
    '  +peers = 40',
    '/etc/d.toml changes on validator-1 (edited on the host)',
    '  The content that stands there now is not known here.',
    '  now sha256:03, planned sha256:04',
  ]) {
    expect(out.split('\n')).toContain(line);
  }
});

it('a plan without past rollouts says that its duration is not known', async () => {
  const { out } = await runWith(
    () => ({ body: planView() }),
    ...'rollout plan --chain=demo --type=validator --strategy=canary'.split(' '),
  );
  expect(out).toContain('not known: no past rollouts of this binary on this chain');
});

it('rollout plan --save saves it, for the time that is given, and names the next command', async () => {
  const { requests, out, err, code } = await runWith(
    () => ({ body: savedPlanView() }),
    ...'rollout plan --chain=demo --type=validator --strategy=canary --save --valid-for 2h --reason board'.split(' '),
  );
  expect(code).toBe(4);
  expect(requests).toMatchObject([
    {
      method: 'POST',
      path: '/api/v1/rollout-plans',
      body: { request: { chain_profile_id: 'demo' }, valid_for_ms: 7_200_000, reason: 'board' },
    },
  ]);
  expect(out).toContain('Nothing has changed since: it can be started.');
  expect(err).toContain(`hoodctl plan start ${ROLLOUT_ID} --watch`);
});

it('plan show names what has changed since', async () => {
  const message = 'val-1 had v1 and has v2 now.';
  const body = savedPlanView({ differences: [{ field: 'val-1', code: 'node_changed', message }] });
  const { out } = await runWith(() => ({ body }), 'plan', 'show', ROLLOUT_ID);
  expect(out).toContain(`✗ It can't be started, since this has changed:\n  - ${message}\n`);
});

it('plan start tells every difference of a plan that is refused, and exits 1', async () => {
  const errors = ['val-1 had v1 and has v2 now.', 'val-6 has come since and is not in the plan.'].map((message) => ({
    field: 'val',
    code: 'node_changed',
    message,
  }));
  const detail = '2 things are not as planned; see errors. Plan again.';
  const refusal = { status: 409, body: { code: 'plan_changed', detail, errors } };
  const { err, code } = await runWith(() => refusal, 'plan', 'start', ROLLOUT_ID);
  expect(code).toBe(1);
  for (const { message } of errors) expect(err).toContain(message);
});

it('plan start latest starts the newest, and plan list speaks JSON', async () => {
  const list = { items: [savedPlanView()], next_cursor: null };
  const answer = ({ method }: { method: string }) => ({ body: method === 'GET' ? list : rolloutView() });
  const { requests } = await runWith(answer, 'plan', 'start', 'latest', '--reason', 'tonight');
  expect(requests.at(-1)).toMatchObject({
    method: 'POST',
    path: `/api/v1/rollout-plans/${ROLLOUT_ID}/start`,
    body: { reason: 'tonight' },
  });
  const { out } = await runWith(answer, 'plan', 'list', '--output', 'json');
  expect(JSON.parse(out)).toMatchObject([{ id: ROLLOUT_ID, state: 'saved' }]);
});
