import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runWith, type SentRequest } from '../testing/cli-run.ts';
import { rolloutView } from '../testing/sample-views.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodctl-apply-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(text: string): Promise<string> {
  const path = join(folder, 'fleet.yaml');
  await writeFile(path, text);
  return path;
}

const BUDGET = `kind: disruption_budget
name: one-a-zone
spec: { per: zone, max_unavailable: 1 }
`;
const ROLLOUT = `kind: rollout
name: gaia-v20
spec: { chain_profile_id: gaia, node_type: full, upgrade_id: v20, strategy: rolling, batch_size: 2 }
`;
const policy = (over: object = {}) => ({
  id: '11111111-1111-4111-8111-111111111111',
  kind: 'disruption_budget',
  name: 'one-a-zone',
  spec: { scope: {}, per: 'zone', max_unavailable: 1 },
  revision: 1,
  managed_by: 'apply',
  created_by: 'key:ann',
  created_at: '2026-01-01T00:00:00Z',
  updated_by: 'key:bob',
  updated_at: '2026-01-02T00:00:00Z',
  covered_nodes: 4,
  ...over,
});

/** A server with these policies and rollouts. */
const server =
  (policies: readonly object[], rollouts: readonly object[] = []) =>
  ({ method, path }: SentRequest) => {
    if (method !== 'GET') return { body: {} };
    return { body: { items: path.includes('rollouts') ? rollouts : policies, next_cursor: null } };
  };
const written = (requests: readonly SentRequest[]) =>
  requests.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`);

describe('hoodctl apply', () => {
  it('has the server judge every document before the first one is done', async () => {
    const run = await runWith(server([]), 'apply', '-f', await file(`${BUDGET}---\n${ROLLOUT}`));
    expect(run.code).toBe(0);
    expect(written(run.requests)).toEqual([
      'PUT /api/v1/policies/disruption_budget/one-a-zone?dry_run=true',
      'POST /api/v1/rollouts?dry_run=true',
      'PUT /api/v1/policies/disruption_budget/one-a-zone',
      'POST /api/v1/rollouts',
    ]);
  });

  it('applied again it writes nothing: a policy as it is, a rollout by its name', async () => {
    const known = rolloutView({ name: 'gaia-v20', chain_profile_id: 'gaia', node_type: 'full', upgrade_id: 'v20' });
    const same = { ...known, strategy: 'rolling', batch_size: 2, canary_size: 1, failure_threshold: 0 };
    const run = await runWith(server([policy()], [same]), 'apply', '-f', await file(`${BUDGET}---\n${ROLLOUT}`));
    expect(written(run.requests)).toEqual([]);
    expect(run.out).toMatch(/^= disruption_budget\/one-a-zone: unchanged/m);
  });

  it('a rollout that was created otherwise is never created again', async () => {
    const run = await runWith(server([], [rolloutView({ name: 'gaia-v20' })]), 'apply', '-f', await file(ROLLOUT));
    expect([run.code, written(run.requests)]).toEqual([1, []]);
    expect(run.out).toContain('! rollout/gaia-v20: differs');
    expect(run.out).toContain("what was created can't be changed");
  });

  it('one bad document is told by file, line and field, and nothing is sent', async () => {
    const bad = `${BUDGET}---\nkind: freeze\nname: payout\nspec:\n  from: tomorrow\n  to: 2026-12-27T00:00:00Z\n  reason: x\n`;
    const path = await file(bad);
    const run = await runWith(server([]), 'apply', '-f', path);
    expect([run.code, run.requests]).toEqual([2, []]);
    expect(run.err).toContain(`${path}:8:9: "spec.from"`);
  });

  it('the same thing written down twice is refused, with both places', async () => {
    const path = await file(`${BUDGET}---\n${BUDGET}`);
    const run = await runWith(server([]), 'apply', '-f', path);
    expect(run.code).toBe(2);
    expect(run.err).toContain(`${path}:5: disruption_budget/one-a-zone is written down already at ${path}:1`);
  });

  it('--prune takes away what this source applied once, and nothing of others', async () => {
    const others = [policy({ name: 'old' }), policy({ name: 'theirs', managed_by: 'other' }), policy()];
    const run = await runWith(server(others), 'apply', '-f', await file(BUDGET), '--prune');
    expect(written(run.requests)).toEqual(['DELETE /api/v1/policies/disruption_budget/old']);
  });
});

describe('hoodctl diff', () => {
  it('shows what was changed by hand, by whom and when, and exits 4', async () => {
    const drifted = policy({ spec: { scope: {}, per: 'zone', max_unavailable: 5 }, managed_by: null });
    const run = await runWith(server([drifted]), 'diff', '-f', await file(BUDGET));
    expect([run.code, written(run.requests)]).toEqual([4, []]);
    expect(run.out).toContain('~ disruption_budget/one-a-zone: change (last changed 2026-01-02T00:00:00Z by key:bob');
    expect(run.out).toContain('    - max_unavailable: 5\n    + max_unavailable: 1\n');
  });

  it('exits 0 when nothing differs', async () => {
    const run = await runWith(server([policy()]), 'diff', '-f', await file(BUDGET));
    expect(run.code).toBe(0);
  });

  it('compares a chain with what is expected of it, and says where its files stand', async () => {
    const answer = ({ path }: SentRequest) =>
      path.includes('/chains/gaia')
        ? { body: { chain_profile_id: 'gaia', two_person_approval: false, nodes: 9 } }
        : { body: { items: [], next_cursor: null } };
    const chain = 'kind: chain\nname: gaia\nspec: { two_person_approval: true }\n';
    const run = await runWith(answer, 'diff', '-f', await file(chain));
    expect(run.code).toBe(4);
    expect(run.out).toContain('! chain/gaia: differs (its files stand in the config folder of the control plane');
  });
});
