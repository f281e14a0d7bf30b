import { ensureCometbftReleases } from '@hoodcloud/testkit/chains/cometbft-binaries';
import { swapFigures } from './downtime/downtime-figures.ts';
import { measureDowntime } from './downtime/measure-downtime.ts';
import { type Figure, printFigures } from './figures.ts';
import { nodeInCompose } from './live-node/in-docker.ts';
import { type Binaries, type LiveNode, RELEASES } from './live-node/live-node.ts';
import { quickDaemonOnSystemd } from './swap/quick-daemon.ts';

/**
 * How long a port is closed by our upgrade beside a rival's: a container beside Compose 2, and a unit whose daemon stops and
 * starts at once beside a shell.
 * `npm run bench -- swap [docker|systemd|all] [ROUNDS]`: all and 11 unless said otherwise.
 */
const [wanted = 'all', rounds = '11'] = process.argv.slice(2);
interface Rivalry {
  readonly runtime: 'docker' | 'systemd';
  readonly figure: string;
  readonly goal: number;
  readonly open: (binaries: Binaries) => Promise<LiveNode>;
}
const RIVALRIES: readonly Rivalry[] = [
  {
    runtime: 'systemd',
    figure: 'systemd_quick_daemon_downtime_ratio_to_shell',
    goal: 1.5,
    open: () => quickDaemonOnSystemd(),
  },
  {
    runtime: 'docker',
    figure: 'docker_host_network_swap_ratio_to_compose',
    goal: 1.1,
    open: (binaries) => nodeInCompose(binaries, 'host_network'),
  },
  {
    runtime: 'docker',
    figure: 'docker_published_port_swap_ratio_to_compose',
    goal: 0.5,
    open: (binaries) => nodeInCompose(binaries, 'published_port'),
  },
];
const chosen = RIVALRIES.filter(({ runtime }) => wanted === 'all' || runtime === wanted);
if (chosen.length === 0) throw new Error(`no runtime ${wanted}: say docker, systemd or all`);

const binaries = await ensureCometbftReleases(RELEASES);
const figures: Figure[] = [];
for (const { figure, goal, open } of chosen) {
  const node = await open(binaries);
  try {
    const seen = await measureDowntime(node, Number(rounds), (line) => console.log(`${figure}: ${line}`));
    figures.push(...swapFigures(figure, goal, seen));
  } finally {
    await node.dispose();
  }
}
printFigures(figures);
