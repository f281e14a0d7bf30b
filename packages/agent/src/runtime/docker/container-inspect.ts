/**
 * What `GET /containers/{id}/json` and `GET /images/{id}/json` answer, as far as the clone looks at it. Everything else
 * is carried as it is: the index signatures stand for fields that this agent has never heard of. (The client's own types
 * leave out a good part of the API.) Absent, null and empty mean the same to the engine throughout.
 */
export interface ContainerInspect extends Json {
  readonly Id: string;
  /** With its leading slash. */
  readonly Name: string;
  readonly Config: ContainerConfig;
  readonly HostConfig: HostConfig;
  /** What is really mounted, however it came about; tmpfs given by `--tmpfs` is not among them. */
  readonly Mounts: readonly MountPoint[];
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, Endpoint>> | null } & Json;
}

export interface ImageInspect extends Json {
  readonly Config: ContainerConfig | null;
}

/** A container's configuration with its image's merged in, or an image's own. */
export interface ContainerConfig extends Json {
  readonly Hostname?: string;
  readonly MacAddress?: string;
  readonly Env?: readonly string[] | null;
  readonly Cmd?: readonly string[] | null;
  readonly Entrypoint?: readonly string[] | string | null;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly ExposedPorts?: Readonly<Record<string, object>> | null;
  readonly Volumes?: Readonly<Record<string, object>> | null;
  readonly Healthcheck?: Json | null;
}

export interface HostConfig extends Json {
  readonly NetworkMode: string;
  readonly PidMode?: string;
  readonly IpcMode?: string;
  readonly AutoRemove?: boolean;
  readonly Binds?: readonly string[] | null;
  readonly Mounts?: readonly MountRequest[] | null;
  readonly Links?: readonly string[] | null;
  readonly VolumesFrom?: readonly string[] | null;
  readonly PortBindings?: Readonly<Record<string, unknown>> | null;
  readonly RestartPolicy?: RestartPolicy | null;
  readonly Ulimits?: readonly ({ readonly Name: string } & Json)[] | null;
}

export interface RestartPolicy {
  readonly Name: string;
  readonly MaximumRetryCount?: number;
}

export interface MountPoint extends Json {
  readonly Type: string;
  /** Of a volume. */
  readonly Name?: string;
  readonly Source: string;
  readonly Destination: string;
  readonly Mode: string;
  readonly RW: boolean;
  readonly Propagation: string;
}

/** One `--mount`. */
export interface MountRequest extends Json {
  readonly Type: string;
  readonly Source?: string;
  readonly Target: string;
}

export interface Endpoint extends Json {
  readonly NetworkID?: string;
  readonly IPAMConfig?: Json | null;
  readonly Aliases?: readonly string[] | null;
  readonly Links?: readonly string[] | null;
  readonly DriverOpts?: Readonly<Record<string, string>> | null;
}

export interface Json {
  readonly [field: string]: unknown;
}

/** The first 12 digits of a container's id: its host name and an alias when nobody chose others. */
export function shortId(id: string): string {
  return id.slice(0, 12);
}

/** Absent, null, zero, the empty string, list or object: what the engine takes for "not set". */
export function isUnset(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
