import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AgentError, errnoOf } from './agent-error.ts';
import {
  absolutePath,
  byType,
  flag,
  integer,
  listOf,
  matching,
  object,
  optional,
  type Place,
  type Read,
  readYaml,
  required,
  text,
  textMap,
} from './config-reader.ts';
import { DEFAULT_SOCKET } from './runtime/docker/engine.ts';
import { readPublicKey } from './runtime/signature/public-key.ts';

/** The agent's own file: the truth about its host (A17). Names as in the file. */
export interface AgentConfig {
  readonly control_plane: ControlPlaneConfig;
  /** Credential, attempts and process supervisors live here; must survive a reboot. */
  readonly state_dir: string;
  /** Hosts from which artifacts may be fetched over plain http (A11). */
  readonly allow_http_hosts: readonly string[];
  readonly components: readonly ComponentConfig[];
}

export interface ControlPlaneConfig {
  /** `host:port` of the gateway. */
  readonly address: string;
  /** Null: no TLS; for development only. */
  readonly tls: TlsConfig | null;
}

export interface TlsConfig {
  /** PEM files; without `ca_file` the public CAs are trusted. */
  readonly ca_file: string | null;
  readonly cert_file: string | null;
  readonly key_file: string | null;
  /** Name in the gateway's certificate when it isn't that of the address. */
  readonly server_name: string | null;
}

export type ComponentConfig = FileComponentConfig | ContainerComponentConfig;

/** A component whose artifact is a file. */
export interface FileComponentConfig extends CommonConfig {
  readonly install_path: string;
  /** Folder of the releases that a replaced link leads to, e.g. Cosmovisor's `upgrades`; null: beside the present one. */
  readonly releases_dir: string | null;
  readonly runtime: SystemdRuntimeConfig | ProcessRuntimeConfig;
}

/** A component whose artifact is the image of a container. */
export interface ContainerComponentConfig extends CommonConfig {
  readonly install_path: null;
  readonly releases_dir: null;
  readonly runtime: DockerRuntimeConfig;
}

interface CommonConfig {
  readonly binary_name: string;
  /** Backups are kept in `{data_dir}/.upgrade-backup`. */
  readonly data_dir: string;
  /** An upgrade may write configs inside these folders only (A9). */
  readonly config_roots: readonly string[];
  /** Prometheus endpoint of the node. */
  readonly metrics_url: string | null;
  /** Public keys of which one must have signed every download, whatever the chain says; null: the chain decides. */
  readonly signed_by: readonly string[] | null;
  /** Programs beside the node's own binary that steps of the vendor may run on this host. */
  readonly hook_programs: readonly string[];
}

export interface SystemdRuntimeConfig {
  readonly type: 'systemd';
  readonly unit: string;
  /** Name or number of the user whose systemd runs it (`systemctl --user`); null: the machine's. */
  readonly user: string | null;
}

export interface DockerRuntimeConfig {
  readonly type: 'docker';
  /** Name of the container. */
  readonly container: string;
  /** Unix socket of the engine; Podman's Docker-compatible one will do. */
  readonly socket: string;
  /** Docker's `config.json` with the credentials of registries; null: that of the agent's own user. */
  readonly docker_config: string | null;
}

export interface ProcessRuntimeConfig {
  readonly type: 'process';
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
  /** Name or number; by default the agent's own user. */
  readonly user: string | null;
  readonly stop_signal: 'SIGTERM' | 'SIGINT';
  readonly restart_delay_ms: number;
  /** Start the node with the agent, unless an operator has stopped it. */
  readonly autostart: boolean;
}

type RuntimeConfig = ComponentConfig['runtime'];

const nameOrNumber: Read<string> = (place) =>
  typeof place.node?.toJSON() === 'number' ? String(place.node.toJSON()) : text(place);

const systemd: Read<RuntimeConfig> = object<SystemdRuntimeConfig>({
  type: required(() => 'systemd' as const),
  unit: required(matching(/^[\w:.@\\-]+\.service$/, 'the full name of a unit such as cometbft.service')),
  user: optional(nameOrNumber, null),
});

const processRuntime: Read<RuntimeConfig> = object<ProcessRuntimeConfig>({
  type: required(() => 'process' as const),
  command: required((place) => {
    const command = listOf(text)(place);
    return command[0]?.startsWith('/') ? command : place.fail('the first item must be the absolute path of a program');
  }),
  cwd: optional(absolutePath, null),
  env: optional(textMap, {}),
  user: optional(nameOrNumber, null),
  stop_signal: optional((place) => {
    const signal = text(place);
    if (signal === 'SIGTERM' || signal === 'SIGINT') return signal;
    return place.fail('SIGTERM or SIGINT is wanted: nothing else lets a node close its databases');
  }, 'SIGTERM'),
  restart_delay_ms: optional(integer(0, 600_000), 1000),
  autostart: optional(flag, true),
});

const docker: Read<RuntimeConfig> = object<DockerRuntimeConfig>({
  type: required(() => 'docker' as const),
  container: required(matching(/^[A-Za-z0-9][A-Za-z0-9_.-]+$/, 'the name of a container')),
  socket: optional(absolutePath, DEFAULT_SOCKET),
  docker_config: optional(absolutePath, null),
});

function publicKey(place: Place): string {
  const key = text(place);
  try {
    readPublicKey(key);
    return key;
  } catch (error) {
    if (error instanceof AgentError) return place.fail(error.message);
    throw error;
  }
}

interface AnyComponent extends CommonConfig {
  readonly install_path: string | null;
  readonly releases_dir: string | null;
  readonly runtime: RuntimeConfig;
}

const anyComponent = object<AnyComponent>({
  binary_name: required(matching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'a name of letters, digits, ".", "_" and "-"')),
  install_path: optional(absolutePath, null),
  releases_dir: optional(absolutePath, null),
  data_dir: required(absolutePath),
  config_roots: optional(listOf(absolutePath), []),
  metrics_url: optional(matching(/^https?:\/\/\S+$/, 'an http address'), null),
  signed_by: optional(listOf(publicKey), null),
  hook_programs: optional(listOf(absolutePath), []),
  runtime: required(byType('type', { systemd, docker, process: processRuntime })),
});

/** A file is installed at a path; an image stays in its engine. */
const component: Read<ComponentConfig> = (place) => {
  const { runtime, install_path, releases_dir, ...common } = anyComponent(place);
  if (runtime.type !== 'docker') {
    if (install_path === null) return place.fail(`the field ${place.field}.install_path is missing`);
    return { ...common, install_path, releases_dir, runtime };
  }
  if (common.signed_by !== null) {
    return place.fail(
      'signed_by: signatures of images are not checked here; the digest pins their content: leave it out',
    );
  }
  if (install_path === null && releases_dir === null) return { ...common, install_path, releases_dir, runtime };
  return place.fail('install_path and releases_dir are for files; the image of a container has none: leave them out');
};

const config = object<AgentConfig>({
  control_plane: required(
    object<ControlPlaneConfig>({
      address: required(matching(/^[^\s/]+:\d{1,5}$/, 'host:port')),
      tls: optional(
        object<TlsConfig>({
          ca_file: optional(absolutePath, null),
          cert_file: optional(absolutePath, null),
          key_file: optional(absolutePath, null),
          server_name: optional(text, null),
        }),
        null,
      ),
    }),
  ),
  state_dir: required(absolutePath),
  allow_http_hosts: optional(listOf(text), []),
  components: required((place) => {
    const components = listOf(component)(place);
    if (components.length === 0) place.fail('at least one component is wanted');
    const names = components.map(({ binary_name }) => binary_name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    return twice === undefined ? components : place.fail(`the binary_name ${twice} is there twice`);
  }),
});

/** @throws AgentError `invalid_config` naming file, line and field */
export function parseAgentConfig(file: string, content: string): AgentConfig {
  return readYaml(file, content, config);
}

/** @throws AgentError `invalid_config` when the file is missing or wrong */
export async function loadAgentConfig(file: string): Promise<AgentConfig> {
  try {
    return parseAgentConfig(file, await readFile(file, 'utf8'));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    const hint = `write one there (see hoodcloud-agent --help), or name it with --config`;
    throw new AgentError('invalid_config', `${file}: there is no such file in ${dirname(file)}: ${hint}`, {
      cause: error,
    });
  }
}
