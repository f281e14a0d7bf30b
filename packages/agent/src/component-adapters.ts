import type { AgentConfig, ComponentConfig, ContainerComponentConfig } from './agent-config.ts';
import { FileHashes } from './host/file-hash.ts';
import { DockerAdapter } from './runtime/docker/docker-adapter.ts';
import { Engine } from './runtime/docker/engine.ts';
import { ProcessAdapter } from './runtime/process/process-adapter.ts';
import type { RuntimeAdapter } from './runtime/runtime-adapter.ts';
import { Systemctl } from './runtime/systemd/systemctl.ts';
import { SystemdAdapter, type SystemdComponent } from './runtime/systemd/systemd-adapter.ts';
import type { SystemdParts } from './runtime/systemd/systemd-service.ts';
import { AgentAdapter } from './self-upgrade/agent-adapter.ts';
import { isOwnComponent } from './self-upgrade/own-component.ts';

/** What all adapters of one agent share: a hash is computed once, and daemon-reloads are made one at a time (field-case 57). */
export interface SharedByAdapters {
  readonly hashes: FileHashes;
  readonly systemctl: Systemctl;
}

/** Made once in a process. */
export function sharedByAdapters(): SharedByAdapters {
  return { hashes: new FileHashes(), systemctl: new Systemctl() };
}

/** The adapter that a component's `runtime.type` asks for: the one place that knows them all. */
export function adapterFor(config: AgentConfig, component: ComponentConfig, shared: SharedByAdapters): RuntimeAdapter {
  if (runsInContainer(component)) return dockerAdapter(config, component, shared);
  const { runtime } = component;
  const files = {
    installPath: component.install_path,
    releasesDir: component.releases_dir,
    dataDir: component.data_dir,
    hookPrograms: component.hook_programs,
    configRoots: component.config_roots,
    allowHttpHosts: config.allow_http_hosts,
    signedBy: component.signed_by ?? undefined,
  };
  switch (runtime.type) {
    case 'systemd':
      return systemdAdapter(
        config,
        component,
        { ...files, unit: runtime.unit },
        {
          ...shared,
          systemctl: shared.systemctl.forUser(runtime.user),
        },
      );
    case 'process':
      return new ProcessAdapter(
        { ...files, binaryName: component.binary_name, runtime, stateDir: config.state_dir },
        shared,
      );
  }
}

function systemdAdapter(
  config: AgentConfig,
  component: ComponentConfig,
  unit: SystemdComponent,
  parts: SystemdParts,
): RuntimeAdapter {
  return isOwnComponent(component) ? new AgentAdapter(unit, parts, config.state_dir) : new SystemdAdapter(unit, parts);
}

function dockerAdapter(config: AgentConfig, component: ContainerComponentConfig, { hashes }: SharedByAdapters) {
  const { container, socket, docker_config } = component.runtime;
  return new DockerAdapter(
    {
      binaryName: component.binary_name,
      container,
      configRoots: component.config_roots,
      stateDir: config.state_dir,
      dataDir: component.data_dir,
      hookPrograms: component.hook_programs,
    },
    { engine: new Engine(socket), hashes, ...(docker_config === null ? {} : { dockerConfig: docker_config }) },
  );
}

function runsInContainer(component: ComponentConfig): component is ContainerComponentConfig {
  return component.runtime.type === 'docker';
}
