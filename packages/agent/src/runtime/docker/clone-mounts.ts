import { posix } from 'node:path';
import type { ContainerInspect, MountPoint, MountRequest } from './container-inspect.ts';

/** The parts of `HostConfig` that say what is mounted where. */
export interface CloneMounts {
  readonly Binds: readonly string[];
  readonly Mounts: readonly MountRequest[];
}

/**
 * Everything that is mounted now, by name. What the operator asked for is repeated as it was asked for; what the engine
 * made up (anonymous volumes of the image, of `-v /path`, of `--mount` without a source) and what came by `--volumes-from`
 * is named, or the clone would start on empty volumes (A14, field-case 76).
 */
export function cloneMounts(container: ContainerInspect): CloneMounts {
  const { HostConfig, Mounts } = container;
  const binds = HostConfig.Binds ?? [];
  const volumeAt = new Map(Mounts.filter(isVolume).map((mount) => [mount.Destination, mount.Name]));
  const requests = (HostConfig.Mounts ?? []).map((request) => {
    const name = volumeAt.get(clean(request.Target));
    return request.Type === 'volume' && !request.Source && name !== undefined ? { ...request, Source: name } : request;
  });
  const asked = new Set([
    ...binds.map(bindDestination),
    ...requests.map((request) => clean(request.Target)),
    ...Object.keys((HostConfig.Tmpfs as object | null | undefined) ?? {}).map(clean),
  ]);
  const unasked = Mounts.filter((mount) => !asked.has(clean(mount.Destination)));
  return { Binds: [...binds, ...unasked.flatMap(asBind)], Mounts: requests };
}

/** Where a bind of the form `source:destination[:options]` is mounted. */
export function bindDestination(bind: string): string {
  return clean(bind.split(':')[1] ?? bind);
}

function asBind(mount: MountPoint): string[] {
  const source = mount.Type === 'volume' ? mount.Name : mount.Type === 'bind' ? mount.Source : undefined;
  if (source === undefined) return [];
  // `z` is what the engine notes for a named volume without options
  const options = new Set(mount.Mode.split(',').filter((option) => option !== '' && option !== 'z'));
  if (!mount.RW) options.add('ro');
  if (mount.Type === 'bind' && mount.Propagation !== '' && mount.Propagation !== 'rprivate') {
    options.add(mount.Propagation);
  }
  return [[source, mount.Destination, [...options].join(',')].filter((part) => part !== '').join(':')];
}

function isVolume(mount: MountPoint): boolean {
  return mount.Type === 'volume';
}

function clean(path: string): string {
  const normal = posix.normalize(path);
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal;
}
