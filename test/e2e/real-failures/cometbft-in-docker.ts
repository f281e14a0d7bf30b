import { join } from 'node:path';
import type { CometbftBinary, CometbftRelease } from '@hoodcloud/testkit/chains/cometbft-binaries';
import { putHome } from '@hoodcloud/testkit/chains/cometbft-host';
import { createNetwork, DEFAULT_PORTS } from '@hoodcloud/testkit/chains/cometbft-network';
import { height, rpc } from '@hoodcloud/testkit/chains/cometbft-rpc';
import { programImage } from '@hoodcloud/testkit/chains/program-image';
import type { TestRegistry } from '@hoodcloud/testkit/docker-lab/test-registry';
import { until } from '@hoodcloud/testkit/until';
import { cometbftChain } from '../cometbft-chain-files.ts';
import { containerNode, type DockerHost } from './container-node.ts';
import type { RealNode } from './real-node.ts';

const HOME = '/cometbft';
const VOLUME = 'cometbft-data';
const APPLICATION_DATA = `/var/lib/docker/volumes/${VOLUME}/_data/data/kvstore.db`;

/** A validator v0.38.21 in a container on its host's network; v1.0.1 panics on its data. Files are made in `folder`. */
export async function cometbftInDocker(
  place: DockerHost,
  registry: TestRegistry,
  folder: string,
  releases: Pick<Record<CometbftRelease, CometbftBinary>, 'v0.38.21' | 'v1.0.1'>,
): Promise<RealNode> {
  const { 'v0.38.21': running, 'v1.0.1': refused } = releases;
  const push = async ({ release, path }: CometbftBinary) => ({
    version: release,
    reference: await registry.push(`cometbft:${release}`, await programImage('cometbft', path, HOME)),
  });
  let rpcUrl = '';
  const node = await containerNode(place, {
    binary: 'cometbft',
    running: await push(running),
    refused: await push(refused),
    container: {
      Cmd: ['start', '--home', HOME],
      volume: `${VOLUME}:${HOME}`,
      network: 'host',
      stopSignal: 'SIGTERM',
    },
    metricsUrl: (host) => `http://${host.ip}:${DEFAULT_PORTS.metricsPort}/metrics`,
    fill: async (host, volume) => {
      const places = [{ name: host.name, host: host.ip, ...DEFAULT_PORTS }];
      const [validator] = await createNetwork({ binary: running.path, dir: join(folder, 'cometbft-network'), places });
      if (validator === undefined) throw new Error('no validator was made');
      rpcUrl = validator.rpcUrl;
      await putHome(host, validator, volume, '1000:1000');
    },
  });
  await until('the validator to make blocks', async () => (await height(rpcUrl)) >= 2);
  // Data that were never opened again have no table, as no old validator's: v1.0.1 takes them for its own and ruins them
  // before it panics. It refuses those with a table and leaves them byte for byte as they are; one restart writes one.
  await place.engine.getContainer('cometbft').restart();
  await until('the validator to make blocks again', async () => (await height(rpcUrl)) >= 5);
  await until('its application to have a table', async () =>
    (await place.host.sh(`ls ${APPLICATION_DATA}`)).includes('.ldb'),
  );
  return {
    ...node,
    chain: cometbftChain('cometbft-docker', 'docker', true),
    refusal: /panic|failed to create persistent app/,
    look: async (atBlock = 2) => {
      const { block_id } = (await rpc(rpcUrl, `block?height=${atBlock}`)) as { block_id: { hash: string } };
      return { height: await height(rpcUrl), kept: { block: block_id.hash } };
    },
  };
}
