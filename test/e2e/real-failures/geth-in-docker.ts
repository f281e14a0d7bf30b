import type { GethBinary, GethRelease } from '@hoodcloud/testkit/chains/geth-binaries';
import { gethArguments, gethUrls } from '@hoodcloud/testkit/chains/geth-host';
import { programImage } from '@hoodcloud/testkit/chains/program-image';
import type { TestRegistry } from '@hoodcloud/testkit/docker-lab/test-registry';
import { containerNode, type DockerHost } from './container-node.ts';
import { GETH_HEALTH, GETH_REFUSAL, gethState, seedGeth } from './geth-state.ts';
import type { RealNode } from './real-node.ts';

const DATA = '/data';

/** geth v1.16.9 in a container with its data in a named volume, which v1.17.10 fails to open. */
export async function gethInDocker(
  place: DockerHost,
  registry: TestRegistry,
  releases: Record<GethRelease, GethBinary>,
): Promise<RealNode> {
  const { 'v1.16.9': running, 'v1.17.10': refused } = releases;
  const push = async ({ release, path }: GethBinary) => ({
    version: release,
    reference: await registry.push(`geth:${release}`, await programImage('geth', path, DATA)),
  });
  const node = await containerNode(place, {
    binary: 'geth',
    running: await push(running),
    refused: await push(refused),
    container: { Cmd: gethArguments(DATA), volume: `geth-data:${DATA}`, network: [8545, 6060], stopSignal: 'SIGINT' },
    metricsUrl: (host) => gethUrls(host).metricsUrl,
  });
  const { rpcUrl } = gethUrls(node.host);
  await seedGeth(rpcUrl);
  return {
    ...node,
    chain: { id: 'geth-docker', binary: 'geth', runtimeType: 'docker', health: GETH_HEALTH },
    refusal: GETH_REFUSAL,
    look: (atBlock) => gethState(rpcUrl, atBlock),
  };
}
