import { ensureCometbftReleases } from '@hoodcloud/testkit/chains/cometbft-binaries';
import { type Figure, median, printFigures } from './figures.ts';
import { nodeInDocker } from './live-node/in-docker.ts';
import { type Binaries, type LiveNode, RELEASES } from './live-node/live-node.ts';
import { nodeOnSystemd } from './live-node/on-systemd.ts';
import { type MeasuredRollback, measureRollback } from './rollback/measure-rollback.ts';

/**
 * How long a rollback from the local backup takes with the network cut: from `hoodcloud-agent rollback --yes` until the
 * earlier release answers on its RPC port, less the node's own start. Real CometBFT.
 * `npm run bench -- rollback [systemd|docker|all] [ROUNDS]`: all and 11 unless said otherwise.
 */
const [wanted = 'all', rounds = '11'] = process.argv.slice(2);
/** Beyond the node's own start. */
const GOAL_MS = 5000;
const NODES: Readonly<Record<string, (binaries: Binaries) => Promise<LiveNode>>> = {
  systemd: nodeOnSystemd,
  docker: (binaries) => nodeInDocker(binaries, 'host_network'),
};
const chosen = Object.entries(NODES).filter(([name]) => wanted === 'all' || name === wanted);
if (chosen.length === 0) throw new Error(`no runtime ${wanted}: say systemd, docker or all`);

const binaries = await ensureCometbftReleases(RELEASES);
const figures: Figure[] = [];
for (const [name, open] of chosen) {
  const node = await open(binaries);
  try {
    const seen = await measureRollback(node, Number(rounds), (line) => console.log(`${name}: ${line}`));
    figures.push(...figuresOf(name, seen));
  } finally {
    await node.dispose();
  }
}
printFigures(figures);

function figuresOf(runtime: string, seen: readonly MeasuredRollback[]): Figure[] {
  const of = (name: string, value: (one: MeasuredRollback) => number, goal?: number): Figure => ({
    name: `${runtime}_rollback_${name}`,
    value: median(seen.map(value)),
    unit: 'ms',
    better: 'lower',
    rounds: seen.length,
    ...(goal === undefined ? {} : { goal }),
  });
  return [
    of('until_node_answers', ({ rollback }) => rollback.openAfterMs),
    of('whole_command', ({ rollback }) => rollback.wholeMs),
    of('own_start_of_node', ({ ownStart }) => ownStart.openAfterMs),
    of('beyond_own_start', ({ rollback, ownStart }) => rollback.openAfterMs - ownStart.openAfterMs, GOAL_MS),
  ];
}
