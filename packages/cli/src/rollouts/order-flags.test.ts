import { expect, it } from 'vitest';
import { runWith } from '../testing/cli-run.ts';
import { planView } from '../testing/sample-views.ts';

const PLAN = ['rollout', 'plan', '--chain', 'demo', '--type', 'full', '--strategy', 'canary'];

it('says the order in flags, and shows whose batch each one is', async () => {
  const view = planView();
  const batches = view.batches.map((batch) => ({ ...batch, canary: false, of: 'zone=eu, 50 %' }));
  const words = '--canary-label zone=eu --batch zone=asia --batch zone=eu,tier=1:50% --batch zone=us:2 --ramp 1:2:50';
  const flags = words.split(' ');
  const answer = () => ({ body: planView({ batches, warnings: ['2 nodes that no batch names come last.'] }) });
  const { requests, out } = await runWith(answer, ...PLAN, ...flags);
  expect(requests.at(-1)?.body).toEqual({
    chain_profile_id: 'demo',
    node_type: 'full',
    strategy: 'canary',
    canary_selector: { labels: { zone: 'eu' } },
    batches: [
      { selector: { labels: { zone: 'asia' } } },
      { selector: { labels: { zone: 'eu', tier: '1' } }, percent: 50 },
      { selector: { labels: { zone: 'us' } }, count: 2 },
    ],
    ramp: { start: 1, factor: 2, max: 50 },
  });
  expect(out).toContain('Batch 0 [zone=eu, 50 %]: validator-1');
  expect(out).toContain('Note: 2 nodes that no batch names come last.');
});

it.each([
  ['--batch', 'eu'],
  ['--batch', 'zone=eu:1.5'],
  ['--ramp', '1-2-50'],
  ['--canary-label', '=eu'],
])('refuses %s %s before anything is sent', async (flag, value) => {
  const { requests, code } = await runWith(() => ({ body: planView() }), ...PLAN, flag, value);
  expect({ requests, code }).toEqual({ requests: [], code: 2 });
});
