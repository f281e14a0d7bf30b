import { type ContainerInspect, type Endpoint, isUnset, type Json, shortId } from './container-inspect.ts';

/** What the network of mode `default` or `bridge` is called: by Docker, by Podman. */
const DEFAULT_NETWORKS = ['bridge', 'podman'];

/** How the clone gets onto its networks: the main one comes with `create`, the others after it, before the start. */
export interface CloneNetworks {
  /** Into the body of `create`. */
  readonly create: { readonly MacAddress?: string; readonly NetworkingConfig?: Json };
  readonly connect: readonly NetworkConnect[];
  /** Networks that `create` joins although the container had been taken off them. */
  readonly disconnect: readonly string[];
}

export interface NetworkConnect {
  /** Its id; its name where the engine gave none. */
  readonly network: string;
  readonly endpoint: Json;
}

/**
 * Networks with the aliases and fixed addresses that the operator chose (A14, field-cases 69 to 71). Addresses and MAC
 * that the engine handed out are left to it. A MAC is the operator's only where the engine keeps it in the configuration;
 * the one of an endpoint is what happens to be in use.
 */
export function cloneNetworks(container: ContainerInspect): CloneNetworks {
  const mode = container.HostConfig.NetworkMode;
  if (isSolitary(mode)) return { create: {}, connect: [], disconnect: [] };
  const isDefault = mode === 'default' || mode === 'bridge' || mode === '';
  const networks = Object.entries(container.NetworkSettings.Networks ?? {});
  const main = networks.find(([name, endpoint]) => isMain(mode, isDefault, name, endpoint));
  const others = networks.filter((network) => network !== main);
  const mac = container.Config.MacAddress;
  const chosenMac = mac === undefined || mac === '' ? {} : { MacAddress: mac };
  return {
    create: {
      ...chosenMac,
      ...(main === undefined || isDefault
        ? {}
        : { NetworkingConfig: { EndpointsConfig: { [mode]: { ...chosen(container, main[1]), ...chosenMac } } } }),
    },
    connect: others.map(([name, endpoint]) => ({
      network: isUnset(endpoint.NetworkID) ? name : (endpoint.NetworkID ?? name),
      endpoint: DEFAULT_NETWORKS.includes(name) ? onDefaultBridge(endpoint) : chosen(container, endpoint),
    })),
    disconnect: main === undefined ? [isDefault ? 'bridge' : mode] : [],
  };
}

/** On no network of its own: the host's, none, or another container's. Nothing can be said about its endpoints. */
export function isSolitary(networkMode: string): boolean {
  return networkMode === 'host' || networkMode === 'none' || networkMode.startsWith('container:');
}

function isMain(mode: string, isDefault: boolean, name: string, endpoint: Endpoint): boolean {
  if (isDefault) return DEFAULT_NETWORKS.includes(name);
  return name === mode || (!isUnset(endpoint.NetworkID) && endpoint.NetworkID === mode);
}

/** Of what an endpoint shows: what somebody chose. The engine adds the short id to the aliases by itself. */
function chosen(container: ContainerInspect, endpoint: Endpoint): Json {
  const aliases = (endpoint.Aliases ?? []).filter((alias) => alias !== shortId(container.Id));
  const { IPAMConfig, Links, DriverOpts, GwPriority } = endpoint;
  return setOnly({ IPAMConfig, Links, DriverOpts, GwPriority, Aliases: aliases });
}

/** The default bridge knows neither aliases nor fixed addresses and refuses both (field-case 71). */
function onDefaultBridge({ DriverOpts, GwPriority }: Endpoint): Json {
  return setOnly({ DriverOpts, GwPriority });
}

function setOnly(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isUnset(value)));
}
