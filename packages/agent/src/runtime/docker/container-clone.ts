import type Docker from 'dockerode';
import { operatorsConfig } from './clone-config.ts';
import { cloneMounts } from './clone-mounts.ts';
import { cloneNetworks, type NetworkConnect } from './clone-networks.ts';
import { type ContainerInspect, type ImageInspect, isUnset, type RestartPolicy, shortId } from './container-inspect.ts';

export interface CloneRequest {
  /** The old container's inspect, taken before anything of it was changed (name, restart policy). */
  readonly container: ContainerInspect;
  /** Inspect of the image that it was made from. */
  readonly oldImage: ImageInspect;
  /** The clone's image: reference or id. */
  readonly image: string;
  /** The agent's own labels for the clone. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Labels that begin so are the agent's own of an earlier upgrade and stay behind. */
  readonly ownLabelPrefix?: string;
}

/** All that makes the clone, in this order: `create`, `disconnect`, `connect`; then, once it may run for good, `restartPolicy`. */
export interface ContainerClone {
  readonly create: Docker.ContainerCreateOptions;
  readonly disconnect: readonly string[];
  readonly connect: readonly NetworkConnect[];
  /** The operator's; the clone is made with `no`, lest the engine start it by itself before its time (A14, A18a). */
  readonly restartPolicy: RestartPolicy;
}

/**
 * How to make a container that differs from another in nothing but its image (A14): same name, mounts with their data
 * (anonymous volumes too), networks, limits, rights, environment, labels. Pure; carries what it doesn't know as it is.
 */
export function cloneOf(request: CloneRequest): ContainerClone {
  const { container, oldImage, image, labels = {}, ownLabelPrefix } = request;
  const config = operatorsConfig(container, oldImage);
  const carriedLabels = Object.entries((config.Labels as Record<string, string> | undefined) ?? {}).filter(
    ([label]) => ownLabelPrefix === undefined || !label.startsWith(ownLabelPrefix),
  );
  const networks = cloneNetworks(container);
  const create = {
    ...config,
    ...hostName(container),
    name: container.Name.replace(/^\//, ''),
    Image: image,
    Labels: { ...Object.fromEntries(carriedLabels), ...labels },
    ...networks.create,
    HostConfig: {
      ...container.HostConfig,
      ...cloneMounts(container),
      Links: (container.HostConfig.Links ?? []).map(asLink),
      ...ulimits(container),
      ContainerIDFile: '',
      RestartPolicy: { Name: 'no', MaximumRetryCount: 0 },
    },
  };
  return {
    // the client's type leaves out fields that the engine knows
    create: create as unknown as Docker.ContainerCreateOptions,
    disconnect: networks.disconnect,
    connect: networks.connect,
    restartPolicy: container.HostConfig.RestartPolicy ?? { Name: 'no', MaximumRetryCount: 0 },
  };
}

/**
 * Makes the clone, not started. When it can't be brought onto its networks it is removed again, so that a container of
 * this name is either whole or not there (a crash in between leaves one that was never started: remove it and call again).
 * @throws the engine's error
 */
export async function createClone(engine: Docker, clone: ContainerClone): Promise<Docker.Container> {
  const container = await engine.createContainer(clone.create);
  try {
    for (const network of clone.disconnect) await engine.getNetwork(network).disconnect({ Container: container.id });
    for (const { network, endpoint } of clone.connect) {
      await engine.getNetwork(network).connect({ Container: container.id, EndpointConfig: endpoint });
    }
  } catch (error) {
    await container.remove();
    throw error;
  }
  return container;
}

/**
 * The engine uses the short id as host name when nobody chose one. In the host's or another container's namespace nobody
 * can: what is shown there is theirs, and the engine refuses to be told it.
 */
function hostName({ Id, Config, HostConfig }: ContainerInspect): { Hostname?: string; Domainname?: string } {
  if (HostConfig.NetworkMode.startsWith('container:') || HostConfig.UTSMode === 'host') return {};
  const chosen = { Hostname: Config.Hostname === shortId(Id) ? '' : Config.Hostname, Domainname: Config.Domainname };
  return Object.fromEntries(Object.entries(chosen).filter(([, name]) => !isUnset(name)));
}

/** Podman shows `RLIMIT_NOFILE` and takes `nofile`, which is what Docker shows. */
function ulimits({ HostConfig }: ContainerInspect): { Ulimits?: unknown } {
  if (HostConfig.Ulimits === undefined || HostConfig.Ulimits === null) return {};
  const named = HostConfig.Ulimits.map((ulimit) => ({
    ...ulimit,
    Name: ulimit.Name.toLowerCase().replace(/^rlimit_/, ''),
  }));
  return { Ulimits: named };
}

/** `/db:/web/alias`, as inspect shows a legacy link, in the form that `create` takes: `db:alias`. */
function asLink(shown: string): string {
  const [target = '', alias = ''] = shown.split(':');
  return `${target.replace(/^\//, '')}:${alias.slice(alias.lastIndexOf('/') + 1)}`;
}
