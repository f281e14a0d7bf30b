import type { Problem } from '@hoodcloud/contracts/http/problem';
import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { CreateRolloutInput } from '@hoodcloud/contracts/http/rollout-requests';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import { WEEKDAYS } from '@hoodcloud/domain/weekly-window';
import { checksumOf, insertNode, insertPolicy } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiFixture, TEST_PROFILE } from '../../http/testing/api-fixture.ts';

const MANUAL: CreateRolloutInput = {
  chain_profile_id: 'testchain',
  node_type: 'validator',
  binary_name: 'cometbft',
  source_version: 'v1.0.0',
  target_version: 'v2.0.0',
  target_binary_url: 'https://example.org/v2.0.0',
  target_binary_checksum: checksumOf('b'),
  manifest_content_hash: checksumOf('c'),
  strategy: 'rolling',
};
const HOUR = 3_600_000;
const iso = (ms: number) => new Date(ms).toISOString();

let api: ApiFixture;
beforeAll(async () => {
  api = await ApiFixture.create();
  await api.writeConfig('testchain/profile.yaml', TEST_PROFILE);
  await api.writeConfig('testchain/runtime.yaml', 'runtime: { type: process }\n');
  for (const zone of ['eu', 'eu', 'us']) {
    await insertNode(api.database.db, { labels: JSON.stringify({ zone }), last_heartbeat_at: new Date() });
  }
});
afterAll(() => api.dispose());

it('a plan tells when the first node would start and what holds how many now; the rollout keeps its own time and windows', async () => {
  const plan = async (own: object = {}) =>
    (await api.call<RolloutPlanView>('POST', '/rollouts/plan', { ...MANUAL, ...own })).body.schedule;
  expect(await plan()).toMatchObject({ holds: [] });

  const until = iso(Date.now() + 10 * HOUR);
  const spec = { scope: { labels: { zone: 'eu' } }, from: iso(Date.now() - HOUR), to: until, reason: 'the payout' };
  await insertPolicy(api.database.db, 'freeze', 'payout', spec);
  const frozen = `Frozen until ${until} (freeze/payout): the payout`;
  expect((await plan())?.holds).toEqual([{ sentence: frozen, nodes: 2 }]);

  const start_at = iso(Date.now() + 20 * HOUR);
  expect(await plan({ start_at })).toEqual({
    first_start_at: start_at,
    holds: [
      { sentence: frozen, nodes: 2 },
      { sentence: `Waits for its time: nothing starts before ${start_at}.`, nodes: 3 },
    ],
  });

  const windows = [{ time_zone: 'Asia/Tokyo', weekly: [{ days: [...WEEKDAYS], from: '00:00', to: '00:00' }] }];
  const { status, body } = await api.call<RolloutDetail>('POST', '/rollouts', { ...MANUAL, start_at, windows });
  expect(status).toBe(201);
  expect(body).toMatchObject({ start_at, windows: [{ ...windows[0], min_left_minutes: 0 }] });
});

it('a window in no time zone, or at no time of day, is refused by field', async () => {
  const refused = async (window: object) =>
    (await api.call<Problem>('POST', '/rollouts', { ...MANUAL, windows: [window] })).body.errors?.[0];
  const weekly = [{ days: ['mon'], from: '22:00', to: '04:00' }];
  expect(await refused({ time_zone: 'Europe/Nowhere', weekly })).toMatchObject({ field: 'body.windows.0.time_zone' });
  expect(await refused({ time_zone: '+01:00', weekly })).toMatchObject({ field: 'body.windows.0.time_zone' });
  const late = [{ days: ['mon'], from: '22:00', to: '24:00' }];
  expect(await refused({ time_zone: 'UTC', weekly: late })).toMatchObject({ field: 'body.windows.0.weekly.0.to' });
});
