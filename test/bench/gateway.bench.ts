import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@hoodcloud/controlplane/dev/child-server';
import { bundledProgram } from '@hoodcloud/testkit/bundled-program';
import type { FleetProcess } from '@hoodcloud/testkit/fleet-simulator/fleet-process';
import { until } from '@hoodcloud/testkit/until';
import { Child } from '../e2e/stack/child.ts';
import { median, percentile, printFigures } from './figures.ts';
import { GatewayStand } from './gateway/gateway-stand.ts';
import { cpuSeconds, rssMb } from './process-cost.ts';

/**
 * What a gateway with ten thousand agents over mTLS takes, beside a bare grpc-js server with the same agents: memory,
 * processor, and how soon it reads a heartbeat.
 * `npm run bench -- gateway [AGENTS] [SECONDS]`: 10000 agents, watched for 60 s, unless said otherwise.
 */
const AGENTS = Number(process.argv[2] ?? 10_000);
const WATCHED_S = Number(process.argv[3] ?? 60);
const HEARTBEAT_MS = 30_000;
const CONNECTS_PER_SECOND = 200;
const SAMPLES = 10;

interface Seen {
  readonly rss: readonly number[];
  readonly cpuPct: number;
  readonly roundTrips: readonly number[];
}

const stand = await GatewayStand.start();
try {
  const identities = await stand.insertFleet(AGENTS);
  const wishes = { heartbeatMs: HEARTBEAT_MS, connectsPerSecond: CONNECTS_PER_SECOND };
  const empty = rssMb(stand.gateway.pid);
  const ours = await watch(await stand.connect(identities, wishes), stand.gateway.pid);
  const bare = await startBare();
  try {
    const emptyBare = rssMb(bare.child.pid);
    const floor = await watch(await stand.connect(identities, { ...wishes, gateway: bare.address }), bare.child.pid);
    const of = { agents: AGENTS, runs: SAMPLES };
    const rss = { ...of, unit: 'MB', better: 'lower' } as const;
    printFigures([
      { ...rss, name: 'gateway_rss', value: median(ours.rss), without_agents: Math.round(empty) },
      { ...rss, name: 'bare_grpc_rss', value: median(floor.rss), without_agents: Math.round(emptyBare) },
      {
        ...of,
        name: 'gateway_rss_ratio_to_bare_grpc',
        value: median(ours.rss) / median(floor.rss),
        unit: '×',
        better: 'lower',
        goal: 1.35,
        floor: Math.round(median(floor.rss)),
      },
      {
        ...of,
        name: 'heartbeat_round_trip_p99',
        value: percentile(ours.roundTrips, 0.99),
        unit: 'ms',
        better: 'lower',
        goal: 25,
        floor: Number(percentile(floor.roundTrips, 0.99).toFixed(1)),
        runs: ours.roundTrips.length,
      },
      {
        ...of,
        name: 'gateway_cpu',
        value: ours.cpuPct,
        unit: '% of a core',
        better: 'lower',
        goal: 25,
        floor: floor.cpuPct,
      },
    ]);
  } finally {
    await bare.child.stop();
  }
} finally {
  await stand.dispose();
}

/** What the process takes while nothing but heartbeats happens. */
async function watch(fleet: FleetProcess, pid: number): Promise<Seen> {
  await sleep(HEARTBEAT_MS); // what the connecting left behind is given back
  await fleet.takeSamples();
  const before = cpuSeconds(pid);
  const rss: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    await sleep((WATCHED_S / SAMPLES) * 1000);
    rss.push(rssMb(pid));
  }
  const cpuPct = ((cpuSeconds(pid) - before) / WATCHED_S) * 100;
  const { connected } = await fleet.counts();
  if (connected !== AGENTS) throw new Error(`only ${connected} of ${AGENTS} agents were connected in the end`);
  return { rss, cpuPct, roundTrips: (await fleet.takeSamples()).roundTrips };
}

async function startBare(): Promise<{ child: Child; address: string }> {
  const program = join(stand.folder, 'bare-grpc.mjs');
  writeFileSync(program, await bundledProgram(new URL('./gateway/bare-grpc-program.ts', import.meta.url)));
  const address = `127.0.0.1:${await freePort()}`;
  const { key, certificate, authority } = stand.files;
  const command = [process.execPath, program, address, key, certificate, authority] as const;
  const child = new Child('bare grpc-js', command, process.env, join(stand.folder, 'bare-grpc.log'));
  child.start();
  await until('the bare server to listen', async () => child.log().includes('listens'));
  return { child, address };
}
