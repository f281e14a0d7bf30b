import { expect, it } from 'vitest';
import { runWith } from '../testing/cli-run.ts';
import { ROLLOUT_ID, reasonView, rolloutView } from '../testing/sample-views.ts';

const objects = (out: string) =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });

it('a watch with --output json is one object a line, the last with the exit code', async () => {
  const { code, out } = await runWith(
    ({ path }) => {
      if (/\/nodes/.test(path)) return { body: { items: [], next_cursor: null } };
      return { body: /\/events/.test(path) ? '' : rolloutView({ status: 'failed' }) };
    },
    ...`rollout status ${ROLLOUT_ID} --watch --output json`.split(' '),
  );
  expect(code).toBe(1);
  expect(objects(out)).toEqual([
    { type: 'rollout', rollout: expect.objectContaining({ id: ROLLOUT_ID, status: 'failed' }) },
    { type: 'end', exit_code: 1, sentence: 'Failed.', next: `hoodctl rollout nodes ${ROLLOUT_ID}` },
  ]);
});

it('so is the watch of a group', async () => {
  const why = [reasonView('all_components_ended', { completed: 1, of: 1, skipped: 0 })];
  const group = { id: ROLLOUT_ID, status: 'completed', status_reason: null, why, components: [] };
  const { code, out } = await runWith(
    () => ({ body: group }),
    ...`group status ${ROLLOUT_ID} --watch --output json`.split(' '),
  );
  expect(code).toBe(0);
  expect(objects(out)).toEqual([
    { type: 'group', group: expect.objectContaining({ status: 'completed' }) },
    { type: 'end', exit_code: 0 },
  ]);
});
