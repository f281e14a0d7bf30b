import { expect, it } from 'vitest';
import { runWith } from '../testing/cli-run.ts';
import { planView, rolloutView } from '../testing/sample-views.ts';

const PLAN = ['rollout', 'plan', '--chain=demo', '--type=validator', '--strategy=rolling'];

it('a time and windows of its own are sent as the API takes them', async () => {
  const { requests } = await runWith(
    () => ({ body: planView() }),
    ...PLAN,
    '--start-at=2026-12-05T22:00:00+01:00',
    '--window=mon-fri 22:00-04:00 Europe/Berlin',
    '--window=sat,sun 00:00-00:00 UTC',
  );
  expect(requests[0]?.body).toMatchObject({
    start_at: '2026-12-05T21:00:00.000Z',
    windows: [
      {
        time_zone: 'Europe/Berlin',
        weekly: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '22:00', to: '04:00' }],
      },
      { time_zone: 'UTC', weekly: [{ days: ['sat', 'sun'], from: '00:00', to: '00:00' }] },
    ],
  });
});

it.each([
  ['--start-at=2026-12-05T22:00:00', 'It must be a time with its zone'],
  ['--start-at=tomorrow', 'It must be a time with its zone'],
  ['--window=22:00-04:00', 'It must be days, times and a time zone'],
])('%s is refused before anything is sent', async (flag, why) => {
  const { requests, err, code } = await runWith(() => ({ body: planView() }), ...PLAN, flag);
  expect(err).toContain(why);
  expect([code, requests]).toEqual([2, []]);
});

it('the status tells both', async () => {
  const own = {
    start_at: '2026-12-05T21:00:00.000Z',
    windows: [
      { time_zone: 'UTC', weekly: [{ days: ['sat' as const], from: '10:00', to: '12:00' }], min_left_minutes: 0 },
    ],
  };
  const { out } = await runWith(() => ({ body: rolloutView(own) }), 'rollout', 'status', rolloutView().id);
  expect(out).toMatch(/^Starts at +2026-12-05T21:00:00.000Z$/m);
  expect(out).toMatch(/^Windows +sat 10:00-12:00 UTC$/m);
});
