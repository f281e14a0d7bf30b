import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetProcess } from '@hoodcloud/testkit/fleet-simulator/fleet-process';
import { type Figure, median, printFigures } from './figures.ts';
import { GatewayStand } from './gateway/gateway-stand.ts';

/**
 * A gateway with ten thousand agents over mTLS is killed and started again: how soon all are back, how even their coming is,
 * and how long the gateway's event loop ever stood still meanwhile.
 * `npm run bench -- reconnect [AGENTS] [KILLS]`: 10000 agents and 2 kills unless said otherwise.
 */
const AGENTS = Number(process.argv[2] ?? 10_000);
const KILLS = Number(process.argv[3] ?? 2);
const CONNECTS_PER_SECOND = 200;
const PATIENCE_S = 240;

interface Return {
  readonly allBackS: number;
  readonly peakToMean: number;
  readonly longestStallMs: number;
}

const stand = await GatewayStand.start();
try {
  const identities = await stand.insertFleet(AGENTS);
  const fleet = await stand.connect(identities, { heartbeatMs: 30_000, connectsPerSecond: CONNECTS_PER_SECOND });
  const returns: Return[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(10_000);
    returns.push(await killAndWait(fleet));
    console.log(`kill ${kill + 1} of ${KILLS}: ${JSON.stringify(returns.at(-1))}`);
  }
  const figure = (name: string, of: (one: Return) => number, unit: string, goal: number): Figure => ({
    name,
    value: median(returns.map(of)),
    unit,
    goal,
    better: 'lower',
    agents: AGENTS,
    runs: KILLS,
  });
  printFigures([
    figure('reconnect_all_back', ({ allBackS }) => allBackS, 's', 90),
    figure('reconnect_peak_to_mean', ({ peakToMean }) => peakToMean, '×', 3),
    figure('reconnect_longest_stall', ({ longestStallMs }) => longestStallMs, 'ms', 500),
  ]);
} finally {
  await stand.dispose();
}

async function killAndWait(fleet: FleetProcess): Promise<Return> {
  await stand.gateway.kill();
  const killed = Date.now();
  await fleet.takeSamples();
  await stand.startGateway();
  const stalls: number[] = [];
  const connects: number[] = [];
  const welcomes: number[] = [];
  for (;;) {
    await sleep(1_000);
    const stall = await stand.longestStallMs();
    if (Number.isFinite(stall)) stalls.push(stall);
    const { welcomesAt, awaysAt } = await fleet.takeSamples();
    // what reached the gateway: who found nobody cost it nothing
    connects.push(...welcomesAt, ...awaysAt);
    welcomes.push(...welcomesAt);
    const { connected } = await fleet.counts();
    if (connected === AGENTS) break;
    if (Date.now() - killed > PATIENCE_S * 1000) throw new Error(`${connected} of ${AGENTS} agents are back`);
  }
  const back = (Math.max(...welcomes) - killed) / 1000;
  return { allBackS: back, peakToMean: peakToMean(connects), longestStallMs: Math.max(...stalls) };
}

/** Most connects in one second ÷ the mean of all seconds from the first to the last. */
function peakToMean(at: readonly number[]): number {
  const perSecond = new Map<number, number>();
  for (const moment of at) {
    const second = Math.floor(moment / 1000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  }
  const seconds = [...perSecond.keys()];
  const whole = Math.max(...seconds) - Math.min(...seconds) + 1;
  return Math.max(...perSecond.values()) / (at.length / whole);
}
