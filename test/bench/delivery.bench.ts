import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetProcess } from '@hoodcloud/testkit/fleet-simulator/fleet-process';
import { ALL_GOOD } from '@hoodcloud/testkit/fleet-simulator/upgrade-script';
import { type Figure, percentile, printFigures } from './figures.ts';
import { insertRolloutNodes, type RolloutNode, writeCommands } from './gateway/command-rows.ts';
import { GatewayStand } from './gateway/gateway-stand.ts';

/**
 * How soon a command that was written is with its agent, and progress that an agent tells is in its row, with a thousand
 * nodes under way: 100 commands and 1000 reports a second, through one gateway over mTLS.
 * `npm run bench -- delivery [SECONDS] [COMMANDS_PER_SECOND]`: 40 and 100 unless said otherwise.
 */
const SECONDS = Number(process.argv[2] ?? 40);
const COMMANDS_PER_SECOND = Number(process.argv[3] ?? 100);
/** An upgrade takes so long, with a report a second: ten times as many reports as commands. */
const UPGRADE_S = 10;
const AGENTS = COMMANDS_PER_SECOND * UPGRADE_S;
const LOOK_MS = 5;
/** Until so many are under way as there shall be. */
const WARM_UP_S = UPGRADE_S;
const GOAL_MS = 50;

const stand = await GatewayStand.start();
try {
  const identities = await stand.insertFleet(AGENTS);
  const nodeIds = identities.map(({ nodeId }) => nodeId);
  const rounds = Math.ceil((SECONDS + WARM_UP_S) / UPGRADE_S) + 1;
  const queue: RolloutNode[] = [];
  for (let round = 0; round < rounds; round += 1) queue.push(...(await insertRolloutNodes(stand, nodeIds)));
  await stand.pool.query('analyze');
  const script = { ...ALL_GOOD, upgradeMs: [UPGRADE_S * 950, UPGRADE_S * 950] as const, reportEveryMs: 950 };
  const fleet = await stand.connect(identities, { heartbeatMs: 30_000, connectsPerSecond: 150, script });
  const writtenAt = new Map<string, number>();
  const stop = new AbortController();
  const writing = writeCommands(stand, queue, { perSecond: COMMANDS_PER_SECOND, writtenAt, signal: stop.signal });
  await sleep(WARM_UP_S * 1000);
  await fleet.takeSamples();
  const progress = await watchProgress(SECONDS * 1000);
  const { commandsAt } = await fleet.takeSamples();
  stop.abort();
  await writing;
  const arrivals = commandsAt.flatMap(({ commandId, at }) => {
    const written = writtenAt.get(commandId);
    return written === undefined ? [] : [at - written];
  });
  printFigures([...figures('command_to_agent', arrivals), ...figures('progress_to_row', progress)]);
  await expectWhole(fleet);
} finally {
  await stand.dispose();
}

/** What is new in the rows, and how long ago it was said. */
async function watchProgress(forMs: number): Promise<number[]> {
  const took: number[] = [];
  const end = Date.now() + forMs;
  let since = new Date().toISOString(); // as text: a Date would lose the microseconds, and see rows twice
  while (Date.now() < end) {
    const { rows } = await stand.pool.query<{ note: string; at: string }>(
      `select progress_note as note, progress_at::text as at from agent_commands
        where status in ('pending', 'delivered', 'acknowledged') and progress_at > $1::timestamptz order by progress_at`,
      [since],
    );
    const now = Date.now();
    for (const { note, at } of rows) {
      took.push(now - Number(/^said at (\d+)$/.exec(note)?.[1]));
      since = at;
    }
    await sleep(LOOK_MS);
  }
  return took;
}

function figures(name: string, ms: readonly number[]): Figure[] {
  const of = { unit: 'ms', better: 'lower', runs: ms.length, agents: AGENTS } as const;
  return [
    { ...of, name: `${name}_p50`, value: percentile(ms, 0.5) },
    { ...of, name: `${name}_p99`, value: percentile(ms, 0.99), goal: GOAL_MS },
    { ...of, name: `${name}_per_second`, value: ms.length / SECONDS, unit: '1/s', better: 'higher' },
  ];
}

async function expectWhole(fleet: FleetProcess): Promise<void> {
  const { connected, doubled } = await fleet.counts();
  if (connected !== AGENTS || doubled > 0)
    throw new Error(`${connected} of ${AGENTS} connected, ${doubled} done twice`);
}
