import { type ContainerInspect, type ImageInspect, shortId } from './container-inspect.ts';

/** Why a container can't be replaced by a clone without losing something; `reason` is what the operator reads. */
export interface CloneRefusal {
  readonly code:
    | 'auto_remove'
    | 'being_removed'
    | 'depended_upon'
    | 'image_gone'
    | 'managed_elsewhere'
    | 'restart_policy_fixed'
    | 'volumes_from_gone'
    | 'writable_layer';
  readonly reason: string;
}

export interface RefusalInput {
  readonly container: ContainerInspect;
  /** null when the engine doesn't have it any more. */
  readonly oldImage: ImageInspect | null;
  /** Inspects of all other containers of the engine, stopped ones too. */
  readonly others: readonly ContainerInspect[];
  /** Whether the engine can change a container's restart policy; Podman (4.3) can't. */
  readonly changesRestartPolicy?: boolean;
  /** What the container wrote outside its mounts. */
  readonly written: readonly WrittenFile[];
  /** Bytes that may be lost from there: by default `WRITABLE_LAYER_LIMIT`; null when the chain's policy allows any. */
  readonly writableLayerLimit?: number | null;
}

export interface WrittenFile {
  readonly path: string;
  readonly bytes: number;
}

/** 1 MB (A14). */
export const WRITABLE_LAYER_LIMIT = 1_000_000;
const TEMP_AND_LOG = ['/tmp', '/var/tmp', '/run', '/var/run', '/var/log', '/var/cache', '/dev/shm'];
const ORCHESTRATORS = [
  ['com.docker.swarm.service.id', 'Docker Swarm'],
  ['io.kubernetes.pod.uid', 'Kubernetes'],
] as const;

/**
 * Everything that speaks against replacing this container, to be asked before the stop (A14). Pure. Beyond A14's list:
 * legacy links of others, which keep pointing to the old container; orchestrators, which would start a second instance
 * as soon as this one stops (A19); a container that the engine is removing (field-case 73).
 */
export function cloneRefusals(input: RefusalInput): CloneRefusal[] {
  const { container, oldImage, others } = input;
  const name = nameOf(container);
  const refusals: CloneRefusal[] = [];
  const refuse = (code: CloneRefusal['code'], reason: string) => refusals.push({ code, reason });

  if (container.HostConfig.AutoRemove === true) {
    refuse(
      'auto_remove',
      `Container ${name} was started with --rm: the engine deletes it, with its anonymous volumes, as soon as it stops, so nothing could be put back. Make it anew without --rm.`,
    );
  }
  const policy = container.HostConfig.RestartPolicy?.Name ?? '';
  if (input.changesRestartPolicy === false && policy !== '' && policy !== 'no') {
    refuse(
      'restart_policy_fixed',
      `Container ${name} has the restart policy ${policy}, and this engine (Podman) can't set it aside, so it could bring the old version back beside the new one. Make it anew with --restart=no and let a systemd unit restart it.`,
    );
  }
  const state = (container.State as { Status?: string } | undefined)?.Status;
  if (state === 'removing' || state === 'dead') {
    refuse(
      'being_removed',
      `Container ${name} is being removed by the engine (state ${state}). Wait until it is gone or find out what blocks the removal, then make it anew.`,
    );
  }
  for (const [label, orchestrator] of ORCHESTRATORS) {
    if (container.Config.Labels?.[label] !== undefined) {
      refuse(
        'managed_elsewhere',
        `Container ${name} is managed by ${orchestrator}, which would start a second instance as soon as this one stops. Upgrade it there.`,
      );
    }
  }
  if (oldImage === null) {
    refuse(
      'image_gone',
      `The image of container ${name} is no longer on this host, so its own defaults can't be told from your settings. Pull it again by its digest.`,
    );
  }
  refusals.push(...goneSources(container, others), ...dependants(container, others), ...lostFiles(input));
  return refusals;
}

function dependants(container: ContainerInspect, others: readonly ContainerInspect[]): CloneRefusal[] {
  const name = nameOf(container);
  const isThis = (reference: string) =>
    reference === name || (reference.length >= 12 && container.Id.startsWith(reference));
  return others.flatMap((other) => {
    const { NetworkMode, PidMode = '', IpcMode = '', VolumesFrom, Links } = other.HostConfig;
    const joined = (mode: string) => mode.startsWith('container:') && isThis(mode.slice('container:'.length));
    const uses = [
      ...(joined(NetworkMode) ? ['its network'] : []),
      ...(joined(PidMode) ? ['its process namespace'] : []),
      ...(joined(IpcMode) ? ['its shared memory'] : []),
      ...((VolumesFrom ?? []).some((from) => isThis(from.split(':')[0] ?? '')) ? ['its volumes (volumes-from)'] : []),
      ...((Links ?? []).some((link) => isThis((link.split(':')[0] ?? '').replace(/^\//, ''))) ? ['a link to it'] : []),
    ];
    if (uses.length === 0) return [];
    const reason = `Container ${nameOf(other)} uses ${uses.join(' and ')} and would be left with the old container ${name}. Upgrade them together by hand, or give ${nameOf(other)} a network and volumes by name.`;
    return [{ code: 'depended_upon' as const, reason }];
  });
}

function goneSources(container: ContainerInspect, others: readonly ContainerInspect[]): CloneRefusal[] {
  const known = (source: string) =>
    others.some((other) => nameOf(other) === source || (source.length >= 12 && other.Id.startsWith(source)));
  return (container.HostConfig.VolumesFrom ?? [])
    .map((from) => from.split(':')[0] ?? '')
    .filter((source) => !known(source))
    .map((source) => ({
      code: 'volumes_from_gone' as const,
      reason: `Container ${nameOf(container)} was made with the volumes of container ${source}, which no longer exists, so the engine would refuse a new one. Make it anew with these volumes by name.`,
    }));
}

function lostFiles({ container, written, writableLayerLimit = WRITABLE_LAYER_LIMIT }: RefusalInput): CloneRefusal[] {
  if (writableLayerLimit === null) return [];
  const lost = written.filter(({ path }) => !isTempOrLog(path)).sort((one, other) => other.bytes - one.bytes);
  const bytes = lost.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes <= writableLayerLimit) return [];
  const biggest = lost.slice(0, 3).map(({ path }) => path);
  const reason = `Container ${nameOf(container)} keeps ${bytes} bytes in its own layer, which end with it (biggest: ${biggest.join(', ')}). Put that data on a volume, or allow the loss in the chain’s policy.`;
  return [{ code: 'writable_layer', reason }];
}

/** What a container may lose: temporary files and logs. */
export function isTempOrLog(path: string): boolean {
  return TEMP_AND_LOG.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

function nameOf(container: ContainerInspect): string {
  return container.Name.replace(/^\//, '') || shortId(container.Id);
}
