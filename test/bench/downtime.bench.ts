import { ensureCometbftReleases } from '@hoodcloud/testkit/chains/cometbft-binaries';
import { downtimeFigures } from './downtime/downtime-figures.ts';
import { measureDowntime } from './downtime/measure-downtime.ts';
import { printFigures } from './figures.ts';
import { nodeAsProcess } from './live-node/as-process.ts';
import { nodeInDocker } from './live-node/in-docker.ts';
import { type Binaries, type LiveNode, RELEASES } from './live-node/live-node.ts';
import { nodeOnSystemd } from './live-node/on-systemd.ts';

/**
 * How long a node's RPC port is closed by an upgrade of ours, beside the same bare steps in one shell script on the same
 * node: real CometBFT, the port probed each millisecond from outside its host.
 * `npm run bench -- downtime [systemd|docker|process|all] [ROUNDS]`: all and 21 unless said otherwise.
 */
const [wanted = 'all', rounds = '21'] = process.argv.slice(2);
const NODES: Readonly<Record<string, (binaries: Binaries) => Promise<LiveNode>>> = {
  systemd: nodeOnSystemd,
  docker_host_network: (binaries) => nodeInDocker(binaries, 'host_network'),
  docker_published_port: (binaries) => nodeInDocker(binaries, 'published_port'),
  process: nodeAsProcess,
};
const chosen = Object.entries(NODES).filter(([name]) => wanted === 'all' || name.startsWith(wanted));
if (chosen.length === 0) throw new Error(`no runtime ${wanted}: say systemd, docker, process or all`);

const binaries = await ensureCometbftReleases(RELEASES);
const figures = [];
for (const [name, open] of chosen) {
  const node = await open(binaries);
  try {
    const seen = await measureDowntime(node, Number(rounds), (line) => console.log(`${name}: ${line}`));
    figures.push(...downtimeFigures(name, seen));
  } finally {
    await node.dispose();
  }
}
printFigures(figures);
