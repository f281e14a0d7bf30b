import { isDeepStrictEqual } from 'node:util';
import {
  type ContainerInspect,
  type Endpoint,
  type ImageInspect,
  isUnset,
  type Json,
  type MountPoint,
  shortId,
} from './container-inspect.ts';

/** A container and the image that it was made from. */
export interface Inspected {
  readonly container: ContainerInspect;
  readonly image: ImageInspect;
}

interface Allowed {
  /** Paths in the inspect; `*` stands for any one name. */
  readonly paths: readonly string[];
  readonly why: string;
}

/** All that may differ between a container and its clone; whatever else does is a fault of the clone (A14). */
export const MAY_DIFFER: readonly Allowed[] = [
  { paths: ['Image', 'Config.Image', 'ImageManifestDescriptor'], why: 'the image: the purpose of it all' },
  { paths: ['Id', 'Created', 'State', 'RestartCount', 'ExecIDs'], why: 'another container at another time' },
  { paths: ['Path', 'Args'], why: 'repeat entrypoint and command, which are compared' },
  {
    paths: ['ResolvConfPath', 'HostnamePath', 'HostsPath', 'LogPath', 'GraphDriver.Data', 'SizeRw', 'SizeRootFs'],
    why: 'the engine’s own files, named after the container’s id',
  },
  { paths: ['MountLabel', 'ProcessLabel'], why: 'SELinux categories, drawn for each container' },
  { paths: ['HostConfig.RestartPolicy'], why: 'set aside until the clone may run for good; put back then' },
  { paths: ['HostConfig.ContainerIDFile'], why: 'the file that `docker run --cidfile` wrote once' },
  {
    paths: ['NetworkSettings.*', 'NetworkSettings.Networks.*.*'],
    why: 'addresses, MACs and ids that the engine hands out; what was asked for (addresses, aliases, ports, MAC) is compared',
  },
];

/** Of `NetworkSettings.Networks.*.*`: what somebody asked for. */
const ASKED_OF_NETWORK = ['IPAMConfig', 'Aliases', 'Links', 'DriverOpts', 'GwPriority'];
/** Merged from the image entry by entry, or whole. */
const MERGED_BY_ENTRY = ['Env', 'Labels', 'Volumes', 'ExposedPorts', 'Healthcheck'];
const MERGED_WHOLE = ['Cmd', 'Entrypoint', 'User', 'WorkingDir', 'StopSignal', 'Shell', 'OnBuild', 'ArgsEscaped'];

/**
 * Compares two raw inspects field by field. What is in both images' defaults may change with the image; besides that only
 * `MAY_DIFFER`. Not derived from how the clone is made, and unknown fields are compared too: it catches what the clone forgets.
 * @param ownLabelPrefix labels that begin so are the agent's own
 * @returns one line a difference, such as `HostConfig.Memory: 1024 became 0`; none for a faithful clone
 */
export function cloneDifferences(old: Inspected, clone: Inspected, ownLabelPrefix?: string): string[] {
  return [
    ...differences('', comparable(old.container), comparable(clone.container)),
    ...MERGED_BY_ENTRY.flatMap((field) => entryDifferences(field, old, clone, ownLabelPrefix)),
    ...MERGED_WHOLE.flatMap((field) => wholeDifferences(field, old, clone)),
    ...missingRequests(old.container, clone.container),
  ];
}

/** An inspect without what may differ and without what is compared by a rule of its own. */
function comparable(container: ContainerInspect): Json {
  const { Config, HostConfig, Mounts, NetworkSettings, GraphDriver, ...top } = container;
  return {
    ...leaveOut(top, (field) => mayDiffer(field)),
    GraphDriver: (GraphDriver as Json | undefined)?.Name,
    Config: {
      ...leaveOut(Config, (field) => mayDiffer(`Config.${field}`) || MERGED.has(field)),
      Hostname: Config.Hostname === shortId(container.Id) ? 'its own short id' : Config.Hostname,
    },
    HostConfig: leaveOut(HostConfig, (field) => mayDiffer(`HostConfig.${field}`) || REQUESTS.has(field)),
    Mounts: Object.fromEntries(Mounts.map((mount) => [mount.Destination, comparableMount(mount)])),
    Networks: Object.fromEntries(
      Object.entries(NetworkSettings.Networks ?? {}).map(([name, endpoint]) => [name, asked(container, endpoint)]),
    ),
  };
}

const MERGED = new Set([...MERGED_BY_ENTRY, ...MERGED_WHOLE]);
const REQUESTS = new Set(['Binds', 'Mounts']);
const MAY_DIFFER_PATHS = new Set(MAY_DIFFER.flatMap(({ paths }) => paths));

function mayDiffer(path: string): boolean {
  return MAY_DIFFER_PATHS.has(path);
}

/**
 * `RW` is compared by itself, and whether `Mode` repeats it depends on how the mount was asked for. For a volume the
 * engine notes `z` or nothing there, by whether it was named.
 */
function comparableMount(mount: MountPoint): Json {
  const noted = new Set(['', 'ro', 'rw', ...(mount.Type === 'volume' ? ['z'] : [])]);
  return { ...mount, Mode: mount.Mode.split(',').filter((option) => !noted.has(option)) };
}

function asked(container: ContainerInspect, endpoint: Endpoint): Json {
  const kept = leaveOut(endpoint, (field) => !ASKED_OF_NETWORK.includes(field));
  const aliases = (endpoint.Aliases ?? []).filter((alias) => alias !== shortId(container.Id));
  return { ...kept, Aliases: aliases.sort() }; // their order says nothing
}

/** Binds and `--mount`s that the clone doesn't repeat; it may add some and name a volume that had no name. */
function missingRequests(old: ContainerInspect, clone: ContainerInspect): string[] {
  const binds = new Set(clone.HostConfig.Binds ?? []);
  const missing = (old.HostConfig.Binds ?? []).filter((bind) => !binds.has(bind));
  const mounts = new Map((clone.HostConfig.Mounts ?? []).map((mount) => [mount.Target, mount]));
  return [
    ...missing.map((bind) => `HostConfig.Binds: ${bind} is missing`),
    ...(old.HostConfig.Mounts ?? []).flatMap((mount) => {
      const kept = mounts.get(mount.Target);
      if (kept === undefined) return [`HostConfig.Mounts: ${mount.Target} is missing`];
      const named = { ...mount, Source: mount.Source || kept.Source };
      return differences(`HostConfig.Mounts.${mount.Target}`, named, kept);
    }),
  ];
}

/** An entry that only the old one has must be gone from the image too, one that only the clone has must be the new image's. */
function entryDifferences(field: string, old: Inspected, clone: Inspected, ownLabelPrefix?: string): string[] {
  const ours = (entry: string) =>
    field === 'Labels' && ownLabelPrefix !== undefined && entry.startsWith(`["${ownLabelPrefix}`);
  const [was, is] = [old.container, clone.container].map(({ Id, Config }) =>
    entriesOf(Config[field]).filter((entry) => entry !== `"HOSTNAME=${shortId(Id)}"`),
  ) as [string[], string[]];
  const [before, after] = [old.image, clone.image].map(({ Config }) => entriesOf(Config?.[field])) as [
    string[],
    string[],
  ];
  const lost = minus(minus(was, is), minus(before, after));
  const gained = minus(minus(is, was), after);
  return [
    ...lost.filter((entry) => !ours(entry)).map((entry) => `Config.${field}: ${entry} is missing`),
    ...gained.filter((entry) => !ours(entry)).map((entry) => `Config.${field}: ${entry} is new`),
  ];
}

function wholeDifferences(field: string, old: Inspected, clone: Inspected): string[] {
  const [was, is] = [old.container.Config[field], clone.container.Config[field]];
  if (same(was, is)) return [];
  const explained = same(was, old.image.Config?.[field]) && same(is, clone.image.Config?.[field]);
  return explained ? [] : [became(`Config.${field}`, was, is)];
}

/** Entries of a list or a map as text, so that they can be counted. */
function entriesOf(value: unknown): string[] {
  if (isUnset(value)) return [];
  const entries = Array.isArray(value) ? value : Object.entries(value as Json).filter(([, entry]) => entry !== 0);
  return entries.map((entry) => JSON.stringify(entry));
}

/** As sets with repetition: each entry of the second takes away one of the first. */
function minus(one: readonly string[], other: readonly string[]): string[] {
  const left = [...other];
  return one.filter((entry) => {
    const at = left.indexOf(entry);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

function differences(path: string, was: unknown, is: unknown): string[] {
  if (same(was, is)) return [];
  if (!isMap(was) || !isMap(is)) return [became(path, was, is)];
  const fields = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...fields].flatMap((field) => differences(path === '' ? field : `${path}.${field}`, was[field], is[field]));
}

function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function same(one: unknown, other: unknown): boolean {
  return (isUnset(one) && isUnset(other)) || isDeepStrictEqual(one, other);
}

function became(path: string, was: unknown, is: unknown): string {
  return `${path}: ${JSON.stringify(was)} became ${JSON.stringify(is)}`;
}

function leaveOut(fields: Json, isOut: (field: string) => boolean): Json {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !isOut(field)));
}
