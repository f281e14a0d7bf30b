import { ensureCometbftReleases } from '@hoodcloud/testkit/chains/cometbft-binaries';
import { type Figure, median, printFigures } from './figures.ts';
import { AgentOnNode, STABLE_MS } from './live-node/agent-on-node.ts';
import { nodeInDocker } from './live-node/in-docker.ts';
import { type Binaries, type LiveNode, RELEASES } from './live-node/live-node.ts';
import { nodeOnSystemd } from './live-node/on-systemd.ts';
import { PortProbe } from './port-probe.ts';

/**
 * What the tool takes for itself on a node while the node serves: checks, backup, download from a server beside it, verify,
 * and after the start all but the time that the service must stay up. The start of the program that the bench drives is in
 * it, which a running agent does not have. Real CometBFT.
 * `npm run bench -- tool-time [ROUNDS]`: 11 unless said otherwise.
 */
const [rounds = '11'] = process.argv.slice(2);
const GOAL_MS = 1_500;
const NODES: Readonly<Record<string, (binaries: Binaries) => Promise<LiveNode>>> = {
  systemd: nodeOnSystemd,
  docker: (binaries) => nodeInDocker(binaries, 'host_network'),
};

const binaries = await ensureCometbftReleases(RELEASES);
const figures: Figure[] = [];
for (const [name, open] of Object.entries(NODES)) {
  const node = await open(binaries);
  try {
    const seen = await measure(node, Number(rounds));
    const of = { unit: 'ms', better: 'lower', goal: GOAL_MS, runs: seen.length } as const;
    figures.push({ ...of, name: `tool_time_per_node_${name}`, value: median(seen) });
  } finally {
    await node.dispose();
  }
}
printFigures(figures);

/** Milliseconds of each upgrade beside its downtime. */
async function measure(node: LiveNode, count: number): Promise<number[]> {
  const agent = await AgentOnNode.install(node);
  const probe = await PortProbe.start(node.host.ip, node.rpcPort);
  const seen: number[] = [];
  for (let round = 1; round <= count; round += 1) {
    await probe.untilOpen();
    let wholeMs = 0;
    const closedMs = await probe.downtimeOf(async () => {
      const began = performance.now();
      await agent.upgrade(RELEASES[round % RELEASES.length] ?? RELEASES[0]);
      wholeMs = performance.now() - began;
    });
    seen.push(wholeMs - closedMs - STABLE_MS);
    await agent.confirm();
  }
  await probe.stop();
  return seen;
}
