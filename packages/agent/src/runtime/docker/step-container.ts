import type Docker from 'dockerode';
import { cloneOf } from './container-clone.ts';
import type { ContainerView, ImageView } from './engine.ts';
import { LABEL_PREFIX } from './instances.ts';

/**
 * Service whose step of the vendor runs in the container. Never the label of the service itself: it is no instance of the
 * node.
 */
export const HOOK_LABEL = `${LABEL_PREFIX}hook`;

/** What nobody may say of a container that shares another one's network: it is the other's. */
const OF_THE_NETWORK = { Dns: [], DnsOptions: [], DnsSearch: [], ExtraHosts: [], Links: [] };

/**
 * The container that one step of the vendor runs in: the node's clone with another command. Beside a node that runs it is
 * in the node's own network; otherwise on the same one, without the node's names and addresses, which nobody may find it
 * by. It publishes nothing, is not restarted and has no labels of the node's, so that no tool takes it for the node. Pure.
 * @param step.command program and arguments, as the container sees them
 */
export function stepContainer(step: {
  readonly node: ContainerView;
  readonly image: ImageView;
  readonly name: string;
  readonly command: readonly string[];
}): Docker.ContainerCreateOptions {
  const { node, image, name } = step;
  const [program = '', ...args] = step.command;
  const { create } = cloneOf({ container: node, oldImage: image, image: node.Image });
  const { Hostname: _host, Domainname: _domain, MacAddress: _mac, NetworkingConfig: _net, ...carried } = create;
  const shares = node.State.Running && !['host', 'none'].includes(node.HostConfig.NetworkMode);
  const isGuest = node.HostConfig.NetworkMode.startsWith('container:');
  return {
    ...carried,
    name,
    Entrypoint: [program],
    Cmd: args,
    Labels: { [HOOK_LABEL]: node.Name.replace(/^\//, '') },
    ExposedPorts: {},
    Healthcheck: { Test: ['NONE'] },
    OpenStdin: false,
    Tty: false,
    HostConfig: {
      ...carried.HostConfig,
      ...(shares && !isGuest && { ...OF_THE_NETWORK, NetworkMode: `container:${node.Id}` }),
      PortBindings: {},
      PublishAllPorts: false,
      AutoRemove: false,
      LogConfig: { Type: 'json-file', Config: {} },
    },
  };
}
