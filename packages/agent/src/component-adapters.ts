import type { AgentConfig, ComponentConfig } from './agent-config.ts';
import type { FileHashes } from './host/file-hash.ts';
import { ProcessAdapter } from './runtime/process/process-adapter.ts';
import type { RuntimeAdapter } from './runtime/runtime-adapter.ts';
import { Systemctl } from './runtime/systemd/systemctl.ts';
import { SystemdAdapter } from './runtime/systemd/systemd-adapter.ts';

/** The adapter that a component's `runtime.type` asks for: the one place that knows them all. */
export function adapterFor(config: AgentConfig, component: ComponentConfig, hashes: FileHashes): RuntimeAdapter {
  const { runtime } = component;
  const files = {
    installPath: component.install_path,
    configRoots: component.config_roots,
    allowHttpHosts: config.allow_http_hosts,
  };
  switch (runtime.type) {
    case 'systemd':
      return new SystemdAdapter({ ...files, unit: runtime.unit }, { systemctl: new Systemctl(), hashes });
    case 'process':
      return new ProcessAdapter(
        { ...files, binaryName: component.binary_name, runtime, stateDir: config.state_dir },
        { hashes },
      );
  }
}
