import { setTimeout as sleep } from 'node:timers/promises';
import type { EventView } from '@hoodcloud/contracts/http/events';
import { createApiKey } from '@hoodcloud/controlplane/auth/api-keys';
import { openPool } from '@hoodcloud/controlplane/db/database';
import { FleetProcess } from '@hoodcloud/testkit/fleet-simulator/fleet-process';
import { insertFleet } from '@hoodcloud/testkit/fleet-simulator/insert-fleet';
import { ALL_GOOD } from '@hoodcloud/testkit/fleet-simulator/upgrade-script';
import { checksumOf } from '@hoodcloud/testkit/rows';
import { until } from '@hoodcloud/testkit/until';
import { ControlPlane } from '../e2e/stack/control-plane.ts';
import { bundlePrograms } from '../e2e/stack/programs.ts';
import { OwnStores } from '../e2e/stack/stores.ts';
import { type Figure, percentile, printFigures } from './figures.ts';
import { insertRolloutNodes, type RolloutNode, writeCommands } from './gateway/command-rows.ts';
import { cpuSeconds } from './process-cost.ts';

/**
 * How soon a page that follows events hears that a node has come to its next phase, from the moment its agent said so, with
 * a thousand nodes under way: the production build of all roles; once with one such page and once with a hundred.
 * `npm run bench -- sse [SECONDS] [WATCHERS…]`: 30 s each, 1 and 100 unless said otherwise.
 */
const SECONDS = Number(process.argv[2] ?? 30);
const WATCHERS = process.argv.length > 3 ? process.argv.slice(3).map(Number) : [1, 100];
const PER_SECOND = 100;
const UPGRADE_S = 10;
const NODES = PER_SECOND * UPGRADE_S;
const RUNNING = checksumOf('a');
const GOALS_MS = { p95: 250, p99: 1_000 };

const programs = await bundlePrograms();
const stores = await OwnStores.start();
const plane = await ControlPlane.start({ programs, ...addresses() });
const pool = openPool(stores.databaseUrl, { max: 4, onIdleError: () => undefined });
const rows = { db: plane.db, pool };
let fleet: FleetProcess | undefined;
try {
  const { key } = await createApiKey(plane.db, { name: 'bench', createdBy: 'test' });
  const node = { chainProfileId: 'testchain', nodeType: 'validator', binaryName: 'cometbft', version: 'v1.0.0' };
  const identities = await insertFleet(pool, { ...node, nodes: NODES, running: RUNNING, namePrefix: 'sse' });
  fleet = await FleetProcess.start({
    identities,
    gateways: [plane.gateway],
    tls: null,
    binaryName: node.binaryName,
    running: RUNNING,
    heightMetric: 'height',
    heartbeatMs: 30_000,
    script: { ...ALL_GOOD, upgradeMs: [UPGRADE_S * 900, UPGRADE_S * 900], reportEveryMs: 900 },
    connectsPerSecond: 200,
  });
  const agents = fleet;
  await until('all agents to be connected', async () => (await agents.counts()).connected === NODES);
  const queue: RolloutNode[] = [];
  const ids = identities.map(({ nodeId }) => nodeId);
  const rounds = Math.ceil(((SECONDS + UPGRADE_S) * WATCHERS.length) / UPGRADE_S) + 1;
  for (let round = 0; round < rounds; round += 1) queue.push(...(await insertRolloutNodes(rows, ids)));
  await pool.query('analyze');
  const figures: Figure[] = [];
  for (const watchers of WATCHERS) figures.push(...(await measure(agents, key, queue, watchers)));
  printFigures(figures);
} finally {
  await fleet?.stop();
  await pool.end();
  await plane.dispose();
  await stores.dispose();
  programs.dispose();
}

function addresses() {
  return { databaseUrl: stores.databaseUrl, temporalAddress: stores.temporalAddress };
}

async function measure(agents: FleetProcess, key: string, queue: RolloutNode[], watchers: number): Promise<Figure[]> {
  const stop = new AbortController();
  const heardAt = new Map<string, number>();
  const after = (await pool.query('select coalesce(max(published_seq), 0) as newest from events')).rows[0].newest;
  for (let watcher = 0; watcher < watchers; watcher += 1) {
    const hear = watcher === 0 ? (event: EventView) => note(heardAt, event) : null; // the others only read
    watch(`${plane.url}/api/v1/events?after=${after}`, key, hear, stop.signal);
  }
  const writing = writeCommands(rows, queue, { perSecond: PER_SECOND, writtenAt: new Map(), signal: stop.signal });
  await sleep(UPGRADE_S * 1000);
  await agents.takeSamples();
  const pid = plane.role('api').pid;
  const before = cpuSeconds(pid);
  await sleep(SECONDS * 1000);
  const { phasesAt } = await agents.takeSamples();
  const cpu = ((cpuSeconds(pid) - before) / SECONDS) * 100;
  await sleep(2_000); // the last ones arrive
  stop.abort();
  await writing;
  const said = phasesAt.filter(({ phase }) => !phase.endsWith(' PREPARING')); // in which the rows begin: no event
  const took = said.flatMap(({ phase, at }) => {
    const heard = heardAt.get(phase);
    return heard === undefined ? [] : [heard - at];
  });
  await expectHeard(said.flatMap(({ phase }) => (heardAt.has(phase) ? [] : [phase])));
  const of = { unit: 'ms', better: 'lower', runs: took.length, nodes: NODES, watchers } as const;
  const name = watchers === 1 ? 'progress_to_watcher' : `progress_to_${watchers}_watchers`;
  return [
    { ...of, name: `${name}_p50`, value: percentile(took, 0.5) },
    { ...of, name: `${name}_p95`, value: percentile(took, 0.95), goal: GOALS_MS.p95 },
    { ...of, name: `${name}_p99`, value: percentile(took, 0.99), goal: GOALS_MS.p99 },
    { ...of, name: `${name}_api_cpu`, value: cpu, unit: '% of a core' },
  ];
}

/** A phase that came when its node was at the next command is no event; every event must have been heard. */
async function expectHeard(unheard: readonly string[]): Promise<void> {
  const { rows: lost } = await pool.query(
    `select id from events where kind = 'node_upgrade_phase_changed' and data->>'command_id' || ' ' || (data->>'to') = any($1)`,
    [unheard],
  );
  if (lost.length > 0) throw new Error(`${lost.length} events were not heard`);
  if (unheard.length > 0) console.log(`${unheard.length} phases came too late to count`);
}

function note(heardAt: Map<string, number>, { kind, data }: EventView): void {
  if (kind === 'node_upgrade_phase_changed') heardAt.set(`${data.command_id} ${data.to}`, Date.now());
}

/** Follows until the signal aborts. */
function watch(url: string, key: string, hear: ((event: EventView) => void) | null, signal: AbortSignal): void {
  const follow = async () => {
    const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' };
    const response = await fetch(url, { headers, signal });
    if (!response.ok || !response.body) throw new Error(`the events answer ${response.status}`);
    let text = '';
    for await (const chunk of response.body) {
      if (!hear) continue;
      const blocks = (text + Buffer.from(chunk).toString('utf8')).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (data) hear(JSON.parse(data));
      }
    }
  };
  follow().catch((error: Error) => {
    if (!signal.aborted) throw error;
  });
}
