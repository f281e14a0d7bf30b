import { engineOf } from '@hoodcloud/testkit/docker-lab/docker-host';
import { imageHere } from '@hoodcloud/testkit/docker-lab/image-pull';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import type Docker from 'dockerode';
import type { RealNode } from './real-node.ts';

/** A lab host and its engine. */
export interface DockerHost {
  readonly host: Host;
  readonly engine: Docker;
}

interface ImageVersion {
  readonly version: string;
  /** `registry/name@sha256:…`. */
  readonly reference: string;
}

interface ContainerPlan {
  /** Name of the component and of its container. */
  readonly binary: string;
  readonly running: ImageVersion;
  readonly refused: ImageVersion;
  readonly container: {
    readonly Cmd: readonly string[];
    readonly volume: string;
    /** Ports published on the host, or the host's own network. */
    readonly network: 'host' | readonly number[];
    readonly stopSignal: string;
  };
  readonly metricsUrl: (host: Host) => string;
  /** Fills the volume before the first start; `folder` is its place on the host. */
  readonly fill?: (host: Host, folder: string) => Promise<void>;
}

/** A host with an engine of its own and the node's container, started as `docker run -d --restart unless-stopped` does. */
export async function containerNode(
  { host, engine }: DockerHost,
  plan: ContainerPlan,
): Promise<Pick<RealNode, 'host' | 'running' | 'refused' | 'offer' | 'component' | 'runs'>> {
  const { Cmd, volume, network, stopSignal } = plan.container;
  const name = plan.binary;
  const container = await engine.createContainer({
    name,
    Image: await imageHere(engine, plan.running.reference),
    Cmd: [...Cmd],
    StopSignal: stopSignal,
    StopTimeout: 180,
    ...(network === 'host' ? {} : { ExposedPorts: Object.fromEntries(network.map((port) => [`${port}/tcp`, {}])) }),
    HostConfig: {
      Binds: [volume],
      RestartPolicy: { Name: 'unless-stopped' },
      ...(network === 'host' ? { NetworkMode: 'host' } : { PortBindings: published(network) }),
    },
  });
  await plan.fill?.(host, `/var/lib/docker/volumes/${volume.split(':')[0]}/_data`);
  await container.start();
  return {
    host,
    running: { version: plan.running.version, checksum: digestIn(plan.running.reference) },
    refused: plan.refused.version,
    offer: async () => ({
      version: plan.refused.version,
      checksum: digestIn(plan.refused.reference),
      url: plan.refused.reference,
    }),
    component: {
      binary_name: plan.binary,
      data_dir: '/var/lib/docker/volumes',
      config_roots: ['/etc/node'],
      metrics_url: plan.metricsUrl(host),
      runtime: { type: 'docker', container: name },
    },
    runs: async () => {
      const { State, Config } = await (await engineOf(host)).getContainer(name).inspect();
      if (!State.Running) throw new Error(`${name} is ${State.Status}`);
      return digestIn(Config.Image);
    },
  };
}

function published(ports: readonly number[]): Record<string, { HostPort: string }[]> {
  return Object.fromEntries(ports.map((port) => [`${port}/tcp`, [{ HostPort: String(port) }]]));
}

function digestIn(reference: string): string {
  return reference.slice(reference.indexOf('@') + 1);
}
