import { execFile } from 'node:child_process';
import type { ContainerView, Engine } from './engine.ts';

const COMMAND_MS = 5_000;

interface BridgeAddress {
  readonly bridge: string;
  readonly address: string;
}

/**
 * Forgets what the host thought of the container's addresses. Requests that came while the old container died leave an
 * incomplete neighbour entry on the engine's bridge, and the kernel asks again only after a second: the published port
 * would stay dark for that long although the new container is up. Without `ip`, or without the right to use it, that
 * second is lost and nothing else.
 */
export async function clearStaleNeighbours(engine: Engine, { NetworkSettings }: ContainerView): Promise<void> {
  const endpoints = Object.values(NetworkSettings.Networks ?? {});
  const found = await Promise.all(
    endpoints.map(async ({ NetworkID, IPAddress }) => {
      if (typeof NetworkID !== 'string' || typeof IPAddress !== 'string' || IPAddress === '') return null;
      const bridge = await bridgeOf(engine, NetworkID);
      return bridge === null ? null : { bridge, address: IPAddress };
    }),
  );
  await Promise.all(found.filter((entry): entry is BridgeAddress => entry !== null).map(flush));
}

async function bridgeOf(engine: Engine, networkId: string): Promise<string | null> {
  const network = await engine.call(`look at the network ${networkId}`, null, (docker) =>
    docker.getNetwork(networkId).inspect(),
  );
  if (network.Driver !== 'bridge') return null;
  return network.Options?.['com.docker.network.bridge.name'] ?? `br-${networkId.slice(0, 12)}`;
}

function flush({ bridge, address }: BridgeAddress): Promise<void> {
  return new Promise((resolve) => {
    execFile('ip', ['neigh', 'flush', 'to', address, 'dev', bridge], { timeout: COMMAND_MS }, () => resolve());
  });
}
