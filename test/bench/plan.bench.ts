import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import { GoTemplateRenderer } from '@hoodcloud/controlplane/config-rendering/go-template-renderer';
import { renderForNodes } from '@hoodcloud/controlplane/config-rendering/render-for-nodes';
import { ApiFixture, TEST_PROFILE } from '@hoodcloud/controlplane/http/testing/api-fixture';
import { ChainFiles } from '@hoodcloud/controlplane/manifests/chain-files';
import { resolveTargets } from '@hoodcloud/controlplane/rollouts/resolve-targets';
import { startTestPostgres } from '@hoodcloud/testkit/postgres';
import { checksumOf } from '@hoodcloud/testkit/rows';
import { type Figure, median, percentile, printFigures } from './figures.ts';
import { insertLargeFleet } from './large-fleet.ts';

/**
 * What a rollout over a large fleet costs before its first node: the plan, the creation, the rows of its targets, and the
 * first page of its nodes; through the whole API over real Postgres, without a socket.
 * `npm run bench -- plan [RUNS] [TARGETS…]`: 5 runs of 1000, 10000 and 100000 unless said otherwise.
 */
const RUNS = Number(process.argv[2] ?? 5);
const SIZES = process.argv.length > 3 ? process.argv.slice(3).map(Number) : [1_000, 10_000, 100_000];
const GOALS_MS: Readonly<Record<number, number>> = { 10000: 1_000, 100000: 8_000 };
const PAGE_GOALS_MS: Readonly<Record<number, number>> = { 10000: 50 };
const PAGES = 100;
const BATCH = 100;
const WANTED = {
  chain_profile_id: 'testchain',
  node_type: 'validator',
  upgrade_id: 'v2',
  strategy: 'rolling',
  batch_size: BATCH,
};
const MANIFEST = `upgrade_id: v2
chain_profile_id: testchain
node_type: validator
binary_name: cometbft
target_version: v2.0.0
target_url: https://releases.example/cometbft-v2.0.0
target_checksum: ${checksumOf('b')}
`;

const postgres = await startTestPostgres();
process.env.HOODCLOUD_TEST_DATABASE_URL = postgres.server.url();
const figures: Figure[] = [];
try {
  for (const size of SIZES) figures.push(...(await measure(size)));
  printFigures(figures);
} finally {
  await postgres.dispose();
}

async function measure(targets: number): Promise<Figure[]> {
  const api = await ApiFixture.create({ requestsPerMinute: 1_000_000 });
  try {
    await insertLargeFleet(api.database, targets);
    await api.database.pool.query('analyze');
    await api.writeConfig('testchain/profile.yaml', TEST_PROFILE);
    await api.writeConfig('upgrades/testchain/v2.yaml', MANIFEST);
    const [plans, creates, resolves, pages]: [number[], number[], number[], number[]] = [[], [], [], []];
    for (let run = 0; run < RUNS; run += 1) {
      await api.database.pool.query('update nodes set last_heartbeat_at = now()');
      plans.push(await clocked(() => plan(api, targets)));
      const { id, ms } = await create(api);
      creates.push(ms);
      await api.database.pool.query('update nodes set last_heartbeat_at = now()');
      resolves.push(await clocked(() => resolveTargets(api.database.db, sourcesOf(api), id)));
      await api.database.pool.query('analyze rollout_nodes');
      for (let page = 0; page < PAGES / RUNS; page += 1) pages.push(await clocked(() => firstPage(api, id)));
      await api.database.pool.query('truncate active_chains; delete from rollout_nodes; delete from rollouts');
    }
    const whole = plans.map((ms, run) => ms + (creates[run] ?? 0) + (resolves[run] ?? 0));
    const of = { targets, runs: RUNS, unit: 'ms', better: 'lower' as const };
    const goal = GOALS_MS[targets];
    const pageGoal = PAGE_GOALS_MS[targets];
    return [
      { ...of, name: `plan_${targets}`, value: median(plans) },
      { ...of, name: `create_${targets}`, value: median(creates) },
      { ...of, name: `resolve_targets_${targets}`, value: median(resolves) },
      { ...of, name: `plan_and_create_${targets}`, value: median(whole), ...(goal !== undefined && { goal }) },
      {
        ...of,
        name: `first_page_p95_${targets}`,
        value: percentile(pages, 0.95),
        runs: pages.length,
        ...(pageGoal !== undefined && { goal: pageGoal }),
      },
    ];
  } finally {
    await api.dispose();
  }
}

async function plan(api: ApiFixture, targets: number): Promise<void> {
  const { status, body } = await api.call<RolloutPlanView>('POST', '/rollouts/plan', WANTED);
  const planned = status === 200 ? body.batches.reduce((sum, { nodes }) => sum + nodes.length, 0) : 0;
  if (planned !== targets)
    throw new Error(`the plan has ${planned} nodes: ${status} ${JSON.stringify(body).slice(0, 500)}`);
}

async function create(api: ApiFixture): Promise<{ id: string; ms: number }> {
  let id = '';
  const ms = await clocked(async () => {
    const { status, body } = await api.call<{ id: string }>('POST', '/rollouts', WANTED);
    if (status !== 201) throw new Error(`the rollout was not created: ${status} ${JSON.stringify(body)}`);
    id = body.id;
  });
  return { id, ms };
}

async function firstPage(api: ApiFixture, id: string): Promise<void> {
  const [detail, nodes] = await Promise.all([
    api.call('GET', `/rollouts/${id}`),
    api.call<{ items: unknown[] }>('GET', `/rollouts/${id}/nodes?limit=50`),
  ]);
  if (detail.status !== 200 || nodes.body.items.length !== 50) throw new Error('the page is not whole');
}

function sourcesOf(api: ApiFixture) {
  return {
    chains: new ChainFiles(() => api.configDir),
    renderConfigs: renderForNodes(api.database.db, new GoTemplateRenderer()),
  };
}

async function clocked(what: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await what();
  return performance.now() - began;
}
