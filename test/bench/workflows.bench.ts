import { createApiKey } from '@hoodcloud/controlplane/auth/api-keys';
import { openPool } from '@hoodcloud/controlplane/db/database';
import { runBareWorkflows } from '@hoodcloud/testkit/bare-engine/bare-engine';
import { FleetProcess } from '@hoodcloud/testkit/fleet-simulator/fleet-process';
import { insertFleet } from '@hoodcloud/testkit/fleet-simulator/insert-fleet';
import { ALL_GOOD } from '@hoodcloud/testkit/fleet-simulator/upgrade-script';
import { until } from '@hoodcloud/testkit/until';
import { manifestFor, writeChain, writeManifest } from '../e2e/stack/chain-folder.ts';
import { ControlPlane, ROLES } from '../e2e/stack/control-plane.ts';
import { bundlePrograms } from '../e2e/stack/programs.ts';
import { OwnStores } from '../e2e/stack/stores.ts';
import { BINARY, NODE_TYPE } from '../e2e/stack/tiny-host.ts';
import { releaseOf } from '../faults/fleet.ts';
import { OperatorApi } from '../faults/operator-api.ts';
import { type Figure, median, printFigures } from './figures.ts';
import { cpuSeconds } from './process-cost.ts';

/**
 * `all_at_once` over a simulated fleet, all roles and stores on this machine: until every agent has its command, and until
 * every node has ended; beside bare Temporal workflows with as many steps of the same kinds on the same server, in turns.
 * And what a node costs: processor time of the roles, rows and bytes in Postgres.
 * `npm run bench -- workflows [ROUNDS] [NODES…]`: 3 rounds of 100, 300 and 1000 nodes unless said otherwise.
 */
const ROUNDS = Number(process.argv[2] ?? 3);
const SIZES = process.argv.length > 3 ? process.argv.slice(3).map(Number) : [100, 300, 1000];
const BEFORE = releaseOf(0);

interface Run {
  readonly allCommandedS: number;
  readonly allEndedS: number;
  readonly cpuMsPerNode: number;
  readonly rowsPerNode: number;
  readonly bytesPerNode: number;
}

const programs = await bundlePrograms();
const figures: Figure[] = [];
try {
  for (const size of SIZES) figures.push(...(await measure(size)));
  const [smallest, largest] = [Math.min(...SIZES), Math.max(...SIZES)];
  const cost = (size: number) => figures.find(({ name }) => name === `cpu_ms_per_node_${size}`)?.value ?? Number.NaN;
  const growth = {
    value: cost(largest) / cost(smallest),
    unit: '×',
    better: 'lower',
    goal: 1.2,
    from: smallest,
  } as const;
  if (SIZES.length > 1) figures.push({ ...growth, name: 'cost_growth', to: largest });
  printFigures(figures);
} finally {
  programs.dispose();
}

/** On stores of its own, so that no size pays for the rows of another. */
async function measure(nodes: number): Promise<Figure[]> {
  const stores = await OwnStores.start();
  const { databaseUrl, temporalAddress } = stores;
  const env = { HOODCLOUD_API_REQUESTS_PER_MINUTE: '100000' };
  const plane = await ControlPlane.start({ programs, databaseUrl, temporalAddress, env });
  const pool = openPool(databaseUrl, { max: 2, onIdleError: () => undefined });
  let fleet: FleetProcess | undefined;
  try {
    const { key } = await createApiKey(plane.db, { name: 'bench', createdBy: 'test' });
    const api = new OperatorApi(plane.url, key);
    const releases = Array.from({ length: ROUNDS + 1 }, (_, round) => releaseOf(round));
    writeChain(plane.configDir, 'bench', { known: releases });
    for (const release of releases.slice(1)) {
      writeManifest(plane.configDir, manifestFor('bench', release, `https://releases.example.org/${release.version}`));
    }
    const rows = { chainProfileId: 'bench', nodeType: NODE_TYPE, binaryName: BINARY, version: BEFORE.version };
    const identities = await insertFleet(pool, { ...rows, nodes, running: BEFORE.checksum, namePrefix: 'bench' });
    await pool.query('analyze');
    fleet = await FleetProcess.start({
      identities,
      gateways: [plane.gateway],
      tls: null,
      binaryName: BINARY,
      running: BEFORE.checksum,
      heightMetric: 'tiny_height',
      heartbeatMs: 5_000,
      script: ALL_GOOD,
      connectsPerSecond: 200,
    });
    const agents = fleet;
    await until('all agents to be connected', async () => (await agents.counts()).connected === nodes);
    const [ours, bare]: [Run[], { allCommandedS: number; allEndedS: number }[]] = [[], []];
    for (let round = 1; round <= ROUNDS; round += 1) {
      ours.push(await upgradeAll(plane, pool, api, agents, { nodes, version: releaseOf(round).version }));
      bare.push(await runBareWorkflows(temporalAddress, nodes));
      console.log(
        `${nodes} nodes, round ${round}: ${JSON.stringify(ours.at(-1))}, bare ${JSON.stringify(bare.at(-1))}`,
      );
    }
    return figuresOf(nodes, ours, bare);
  } finally {
    await fleet?.stop();
    await pool.end();
    await plane.dispose();
    await stores.dispose();
  }
}

async function upgradeAll(
  plane: ControlPlane,
  pool: ReturnType<typeof openPool>,
  api: OperatorApi,
  fleet: FleetProcess,
  { nodes, version }: { readonly nodes: number; readonly version: string },
): Promise<Run> {
  const wanted = { chain_profile_id: 'bench', node_type: NODE_TYPE, upgrade_id: version, strategy: 'all_at_once' };
  const { id } = await api.post<{ id: string }>('/rollouts', { ...wanted, skip_validation: true });
  await fleet.takeSamples();
  const [cpuBefore, sizeBefore] = [cpuOfRoles(plane), await sizeOf(pool)];
  const began = Date.now();
  await api.post(`/rollouts/${id}/start`, {});
  await until('all nodes to have ended', async () => {
    const { rows } = await pool.query("select status from rollouts where id = $1 and status <> 'running'", [id]);
    if (rows.length > 0 && rows[0].status !== 'completed') throw new Error(`the rollout is ${rows[0].status}`);
    return rows.length > 0;
  });
  const allEndedS = (Date.now() - began) / 1000;
  const { rows } = await pool.query(
    "select count(*)::int as n from agent_commands where rollout_id = $1 and operation = 'UPGRADE'",
    [id],
  );
  if (rows[0].n !== nodes) throw new Error(`${rows[0].n} of ${nodes} nodes were commanded`);
  const { commandsAt } = await fleet.takeSamples();
  // an UPGRADE and a CONFIRM for each: the last UPGRADE is what all were waiting for
  const upgrades = new Set(
    (await pool.query("select id from agent_commands where rollout_id = $1 and operation = 'UPGRADE'", [id])).rows.map(
      (row) => row.id,
    ),
  );
  const arrivals = commandsAt.filter(({ commandId }) => upgrades.has(commandId)).map(({ at }) => at);
  const sizeAfter = await sizeOf(pool);
  return {
    allCommandedS: (Math.max(...arrivals) - began) / 1000,
    allEndedS,
    cpuMsPerNode: ((cpuOfRoles(plane) - cpuBefore) * 1000) / nodes,
    rowsPerNode: (sizeAfter.rows - sizeBefore.rows) / nodes,
    bytesPerNode: (sizeAfter.bytes - sizeBefore.bytes) / nodes,
  };
}

function cpuOfRoles(plane: ControlPlane): number {
  return ROLES.reduce((sum, role) => sum + cpuSeconds(plane.role(role).pid), 0);
}

/** Rows ever inserted, and bytes of all tables with their indexes, without heartbeats, which come whether or not. */
async function sizeOf(pool: ReturnType<typeof openPool>): Promise<{ rows: number; bytes: number }> {
  const { rows } = await pool.query(
    `select sum(n_tup_ins)::float8 as rows, sum(pg_total_relation_size(relid))::float8 as bytes
       from pg_stat_user_tables where relname <> 'node_heartbeats'`,
  );
  return rows[0];
}

function figuresOf(
  nodes: number,
  ours: readonly Run[],
  bare: readonly { readonly allCommandedS: number; readonly allEndedS: number }[],
): Figure[] {
  const of = { nodes, runs: ours.length } as const;
  const rate = nodes / median(ours.map(({ allEndedS }) => allEndedS));
  const bareRate = nodes / median(bare.map(({ allEndedS }) => allEndedS));
  const commandedS = median(ours.map(({ allCommandedS }) => allCommandedS));
  const bareCommandedS = median(bare.map(({ allCommandedS }) => allCommandedS));
  const isLargest = nodes === Math.max(...SIZES);
  const lower = { ...of, better: 'lower' } as const;
  return [
    {
      ...of,
      name: `nodes_per_second_${nodes}`,
      value: rate,
      unit: '1/s',
      better: 'higher',
      floor: Math.round(bareRate),
    },
    ...(isLargest
      ? ([
          {
            ...of,
            name: 'node_workflows_ratio_to_bare',
            value: rate / bareRate,
            unit: '×',
            better: 'higher',
            goal: 0.85,
          },
          { ...lower, name: 'all_at_once_ratio_to_bare', value: commandedS / bareCommandedS, unit: '×', goal: 1.25 },
        ] as const)
      : []),
    {
      ...lower,
      name: `all_commanded_${nodes}`,
      value: commandedS,
      unit: 's',
      floor: Number(bareCommandedS.toFixed(1)),
    },
    { ...lower, name: `cpu_ms_per_node_${nodes}`, value: median(ours.map((run) => run.cpuMsPerNode)), unit: 'ms' },
    { ...lower, name: `rows_per_node_${nodes}`, value: median(ours.map((run) => run.rowsPerNode)), unit: 'rows' },
    { ...lower, name: `bytes_per_node_${nodes}`, value: median(ours.map((run) => run.bytesPerNode)), unit: 'bytes' },
  ];
}
