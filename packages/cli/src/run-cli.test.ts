import { expect, it } from 'vitest';
import { runAgainst, runWith } from './testing/cli-run.ts';
import { planView, ROLLOUT_ID, reasonView, rolloutView } from './testing/sample-views.ts';

const rollout = (differs: Parameters<typeof rolloutView>[0]) => () => ({ body: rolloutView(differs) });

it('exits 2 for a wrong command line and sends nothing', async () => {
  const unknown = await runWith(() => null, 'rollout', 'strat');
  expect(unknown).toMatchObject({ code: 2, requests: [] });
  expect(unknown.err).toContain('start');
  const missing = await runWith(() => null, 'rollout', 'create', '--chain', 'demo');
  expect(missing).toMatchObject({ code: 2, requests: [] });
  expect(missing.err).toContain('--type, --strategy');
  expect((await runWith(() => null, 'rollout', 'create', '--threshold', '3')).code).toBe(2);
});

it('exits 0 for help and teaches by examples', async () => {
  const help = await runWith(() => null, 'rollout', 'create', '--help');
  expect(help.code).toBe(0);
  expect(help.out).toContain('rollout create -f rollout.yaml --start --watch');
});

it.each([
  ['running', {}, 0],
  ['completed', {}, 0],
  ['failed', {}, 1],
  ['canceled', {}, 1],
  ['paused', {}, 3],
  ['running', { waiting: { kind: 'wait', until: null, reasons: [reasonView('waiting_for_approval')] } }, 3],
] as const)('says how a rollout stands by the exit code: %s', async (status, differs, code) => {
  const run = await runWith(rollout({ ...differs, status } as never), 'rollout', 'status', ROLLOUT_ID);
  expect(run).toMatchObject({ code, err: '' });
});

it('exits 4 when a plan would change nodes, 0 when it has nothing to do, 1 when it breaks a rule', async () => {
  const plan = (body: unknown) =>
    runWith(() => ({ body }), 'rollout', 'plan', '--chain=demo', '--type=validator', '--strategy=canary');
  expect((await plan(planView())).code).toBe(4);
  expect((await plan(planView({ batches: [] }))).code).toBe(0);
  const broken = await plan(
    planView({ violations: [{ field: '', code: 'same_version', message: 'Nothing would change.' }] }),
  );
  expect(broken.code).toBe(1);
  expect(broken.out).toContain('Nothing would change. (same_version)');
});

it('shows a refusal as sentences with fields, and what to do next', async () => {
  const refused = {
    status: 422,
    body: {
      code: 'invalid_rollout',
      detail: 'The rollout breaks 2 rules.',
      errors: [
        { field: 'body.target_version', code: 'same_version', message: 'target_version equals source_version.' },
        { field: '', code: 'no_recovery_plan', message: 'A breaking migration needs a recovery_plan.' },
      ],
    },
  };
  const run = await runWith(
    () => refused,
    'rollout',
    'create',
    '--chain=demo',
    '--type=validator',
    '--strategy=canary',
  );
  expect(run.code).toBe(1);
  expect(run.err).toBe(
    '✗ The rollout breaks 2 rules.\n' +
      '  - body.target_version: target_version equals source_version.\n' +
      '  - A breaking migration needs a recovery_plan.\n' +
      '  Next: mend what is named above, then look before you start: hoodctl rollout plan --help\n',
  );
  const unknown = await runWith(() => ({ status: 401, body: { detail: 'Unknown key.' } }), 'rollout', 'list');
  expect(unknown.err).toContain('Next: hoodctl login');
});

it('says that the control plane does not answer, and where it was looked for', async () => {
  const refused = Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } });
  const run = await runAgainst(() => Promise.reject(refused), ['rollout', 'list']);
  expect(run.code).toBe(1);
  expect(run.err).toContain("✗ http://control.test doesn't answer");
});

it('sends the key, and with every order an Idempotency-Key of its own', async () => {
  const { requests } = await runWith(pausedByOrder(), 'rollout', 'pause', ROLLOUT_ID, '--reason', 'exchange');
  const order = requests.find(({ method }) => method === 'POST');
  expect(order).toMatchObject({ path: `/api/v1/rollouts/${ROLLOUT_ID}/pause`, body: { reason: 'exchange' } });
  expect(order?.headers.get('authorization')).toBe('Bearer key');
  expect(order?.headers.get('idempotency-key')).toMatch(/^[0-9a-f-]{36}$/);
});

it('shows what came of an order, not what was before it', async () => {
  const { out, code } = await runWith(pausedByOrder(), 'rollout', 'pause', ROLLOUT_ID);
  expect(code).toBe(0);
  expect(out).toMatch(/^Status +paused/m);
});

/** A rollout that is running until the second look after a pause was ordered. */
function pausedByOrder() {
  let looks = 0;
  return ({ method }: { method: string }) => {
    if (method === 'POST') return { body: rolloutView() };
    looks += 1;
    return { body: rolloutView(looks > 1 ? { status: 'paused' } : {}) };
  };
}

it('finds the latest rollout and one by the beginning of its id', async () => {
  const answer = ({ path }: { path: string }) =>
    path.includes('?') ? { body: { items: [rolloutView()], next_cursor: null } } : { body: rolloutView() };
  for (const given of ['latest', '1111']) {
    const { requests } = await runWith(answer, 'rollout', 'status', given);
    expect(requests.at(-1)?.path).toBe(`/api/v1/rollouts/${ROLLOUT_ID}`);
  }
  const none = await runWith(answer, 'rollout', 'status', '9');
  expect(none).toMatchObject({ code: 1 });
  expect(none.err).toContain('Next: hoodctl rollout list');
});

it("gives the API's own value to machines", async () => {
  const json = await runWith(rollout({}), 'rollout', 'status', ROLLOUT_ID, '--output', 'json');
  expect(JSON.parse(json.out)).toEqual(rolloutView());
  const yaml = await runWith(rollout({}), '--output', 'yaml', 'rollout', 'status', ROLLOUT_ID);
  expect(yaml.out).toContain(`id: ${ROLLOUT_ID}\n`);
});
