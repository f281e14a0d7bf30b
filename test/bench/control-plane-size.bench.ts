import { setTimeout as sleep } from 'node:timers/promises';
import { createApiKey } from '@hoodcloud/controlplane/auth/api-keys';
import type { SimulatedAgent } from '@hoodcloud/testkit/fleet-simulator/simulated-agent';
import { until } from '@hoodcloud/testkit/until';
import { writeChain } from '../e2e/stack/chain-folder.ts';
import { ControlPlane, ROLES } from '../e2e/stack/control-plane.ts';
import { bundlePrograms } from '../e2e/stack/programs.ts';
import { OwnStores } from '../e2e/stack/stores.ts';
import { joinNode } from '../faults/fleet.ts';
import { OperatorApi } from '../faults/operator-api.ts';
import { type Figure, printFigures } from './figures.ts';
import { cpuSeconds, rssMb } from './process-cost.ts';

/**
 * What each role takes with so many agents connected: the production build on real Postgres and Temporal, simulated agents over
 * the real protocol with a heartbeat a second each, five times what agents do by default.
 * `npm run bench -- control-plane-size [AGENTS…]`: 0 100 1000 unless said otherwise.
 */
const SIZES = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [0, 100, 1000];
const CHAIN = 'sized';
const WATCHED_S = 30;
const AT_ONCE = 20;

const programs = await bundlePrograms();
const stores = await OwnStores.start();
const plane = await ControlPlane.start({
  programs,
  databaseUrl: stores.databaseUrl,
  temporalAddress: stores.temporalAddress,
});
const { key } = await createApiKey(plane.db, { name: 'bench', createdBy: 'test' });
const api = new OperatorApi(plane.url, key);
const agents: SimulatedAgent[] = [];
const figures: Figure[] = [];
try {
  writeChain(plane.configDir, CHAIN, { known: [] });
  for (const size of SIZES) {
    await grow(size);
    figures.push(...(await watch(size)));
  }
  printFigures(figures);
} finally {
  for (const agent of agents) agent.stop();
  await plane.dispose();
  await stores.dispose();
  programs.dispose();
}

async function grow(size: number): Promise<void> {
  while (agents.length < size) {
    const names = Array.from(
      { length: Math.min(AT_ONCE, size - agents.length) },
      (_, at) => `node-${agents.length + at}`,
    );
    const joined = await Promise.all(names.map((name) => joinNode(plane, api, { chain: CHAIN, name, upgradeMs: 0 })));
    for (const agent of joined) agent.start();
    agents.push(...joined);
  }
  await until(`${size} agents to be connected`, async () => {
    const sessions = plane.db.selectFrom('agent_sessions').select('node_id').distinct();
    return (await sessions.execute()).length === size;
  });
}

async function watch(size: number): Promise<Figure[]> {
  await sleep(WATCHED_S * 1000);
  const before = ROLES.map((role) => cpuSeconds(plane.role(role).pid));
  await sleep(WATCHED_S * 1000);
  return ROLES.flatMap((role, at): Figure[] => [
    { name: `${role}_rss_${size}_agents`, value: rssMb(plane.role(role).pid), unit: 'MB', better: 'lower' },
    {
      name: `${role}_cpu_${size}_agents`,
      value: ((cpuSeconds(plane.role(role).pid) - (before[at] ?? 0)) / WATCHED_S) * 100,
      unit: '% of a core',
      better: 'lower',
    },
  ]);
}
