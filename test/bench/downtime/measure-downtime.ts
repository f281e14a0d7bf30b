import { AgentOnNode } from '../live-node/agent-on-node.ts';
import { type LiveNode, RELEASES, type Way } from '../live-node/live-node.ts';
import { PortProbe } from '../port-probe.ts';

/** Milliseconds that the RPC port was closed, one a round, by way; the first way is the product. */
export type Downtimes = ReadonlyMap<string, readonly number[]>;
export const PRODUCT = 'product';

/**
 * Changes a live node's release by every way in turn. The ways take turns in who goes first and the two releases change
 * places with every change, so that none has the warmer cache.
 */
export async function measureDowntime(node: LiveNode, rounds: number, say: (line: string) => void): Promise<Downtimes> {
  const agent = await AgentOnNode.install(node);
  const probe = await PortProbe.start(node.host.ip, node.rpcPort);
  const product: Way = {
    prepare: async () => node.handOver?.(),
    change: (to) => agent.upgrade(to),
    tidy: () => agent.confirm(),
  };
  const ways = Object.entries({ [PRODUCT]: product, ...node.byHand });
  const seen = new Map<string, number[]>(ways.map(([name]) => [name, []]));
  let changes = 0;
  for (let round = 0; round < rounds; round += 1) {
    const turns = ways.map((_, turn) => ways[(round + turn) % ways.length]).filter((one) => one !== undefined);
    for (const [name, way] of turns) {
      changes += 1;
      const to = RELEASES[changes % RELEASES.length] ?? RELEASES[0];
      await way.prepare(to);
      await probe.untilOpen();
      seen.get(name)?.push(await probe.downtimeOf(() => way.change(to)));
      await way.tidy();
    }
    const last = ways.map(([name]) => `${name} ${seen.get(name)?.at(-1)?.toFixed(0)} ms`);
    say(`round ${round + 1} of ${rounds}: ${last.join(', ')}`);
  }
  await probe.stop();
  return seen;
}
