import { engineOf, startEngine } from '@hoodcloud/testkit/docker-lab/docker-host';
import { BINDS_LOW_PORTS, setExtendedAttributes } from '@hoodcloud/testkit/extended-attributes';
import type { HostLab } from '@hoodcloud/testkit/host-lab/host-lab';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { type Release, SERVICE, SERVICE_SCRIPT } from './small-service.ts';

export type Adapter = 'systemd' | 'docker' | 'process';

interface ConfigFile {
  readonly path: string;
  readonly content: Buffer;
}

/** All that differs between the runtimes in a crash test: one row each. */
interface CrashRuntime {
  /** The component's own lines in the agent's file. */
  readonly component: string;
  /** The config files that belong to a version. */
  readonly configsOf: (version: string) => ConfigFile[];
  /** Processes of a release carry its version in their environment. */
  readonly tellsVersion: boolean;
  /** Puts a release in place; it runs then, or the agent starts it. */
  readonly install: (lab: HostLab, host: Host, first: Release) => Promise<void>;
  /** Takes away what an earlier cell left of the release, so that it is fetched again. */
  readonly forget: (host: Host, release: Release) => Promise<void>;
  /** A host that has booted shows what it starts by itself. */
  readonly settleAfterBoot: (host: Host) => Promise<void>;
}

const config = (version: string): ConfigFile => ({
  path: SERVICE.config,
  content: Buffer.from(`version ${version}\n`),
});
const dropIn = (version: string): ConfigFile => ({
  path: SERVICE.dropIn,
  content: Buffer.from(`[Service]\nEnvironment=APP_VERSION=${version}\n`),
});
const FILES = `install_path: ${SERVICE.binary}
    config_roots: [/etc/app, /etc/systemd/system/app.service.d]`;
const UNIT_FILE = `[Service]
ExecStart=${SERVICE.binary} ${SERVICE.script}
Restart=always
RestartSec=0.25

[Install]
WantedBy=multi-user.target
`;
const nothing = async () => undefined;

export const RUNTIMES: Readonly<Record<Adapter, CrashRuntime>> = {
  systemd: {
    component: `${FILES}\n    runtime: { type: systemd, unit: ${SERVICE.unit} }`,
    configsOf: (version) => [config(version), dropIn(version)],
    tellsVersion: true,
    install: async (_, host, first) => {
      await installFiles(host, first, 'systemd');
      await host.writeFile(`/etc/systemd/system/${SERVICE.unit}`, UNIT_FILE);
      await host.sh(`systemctl daemon-reload; systemctl enable -q --now ${SERVICE.unit}`);
    },
    forget: nothing,
    settleAfterBoot: nothing,
  },
  docker: {
    component: `config_roots: [/etc/app]\n    runtime: { type: docker, container: ${SERVICE.name} }`,
    configsOf: (version) => [config(version)],
    tellsVersion: true,
    install: async (lab, host, first) => {
      await installFiles(host, first, 'docker');
      await startEngine(lab, host);
      const engine = await engineOf(host);
      const pulled = await engine.createImage({ fromImage: first.url });
      await new Promise((resolve, reject) => {
        engine.modem.followProgress(pulled, (error, done) => (error ? reject(error) : resolve(done)));
      });
      const container = await engine.createContainer({
        name: SERVICE.name,
        Image: first.url,
        HostConfig: {
          NetworkMode: 'host',
          RestartPolicy: { Name: 'always' },
          Binds: ['/etc/app', SERVICE.dataDir, SERVICE.logDir].map((path) => `${path}:${path}`),
        },
      });
      await container.start();
    },
    forget: async (host, { url }) => {
      const engine = await engineOf(host);
      const images = await engine.listImages({ digests: true });
      const known = images.filter(({ RepoDigests }) => RepoDigests?.includes(url) === true);
      for (const { Id } of known) await engine.getImage(Id).remove({ force: true });
    },
    settleAfterBoot: async (host) => {
      await engineOf(host);
    },
  },
  process: {
    component: `${FILES}
    runtime: { type: process, command: [${SERVICE.binary}, ${SERVICE.script}], restart_delay_ms: 250 }`,
    configsOf: (version) => [config(version)],
    tellsVersion: false,
    install: (_, host, first) => installFiles(host, first, 'process'),
    forget: nothing,
    settleAfterBoot: nothing,
  },
};

async function installFiles(host: Host, { version, kind, binary }: Release, adapter: Adapter): Promise<void> {
  if (kind === 'file') {
    await host.writeFile(SERVICE.binary, binary, 0o755);
    await host.writeFile(SERVICE.script, SERVICE_SCRIPT);
  }
  for (const { path, content } of RUNTIMES[adapter].configsOf(version)) await host.writeFile(path, content);
  await host.sh(
    `mkdir -p /opt/app ${SERVICE.dataDir} ${SERVICE.logDir}; mkfifo ${SERVICE.never}; chmod 640 ${SERVICE.config}`,
  );
  const onMachine = (path: string) => `/proc/${pid}/root${path}`;
  const pid = await host.pid();
  await setExtendedAttributes(onMachine(SERVICE.config), { 'user.note': Buffer.from('of an operator') });
  if (kind === 'file') {
    await setExtendedAttributes(onMachine(SERVICE.binary), { 'security.capability': BINDS_LOW_PORTS });
  }
}

/** The agent's own file for a host with this service. */
export function agentConfig(adapter: Adapter, gateway: string, artifactHost: string): string {
  return `control_plane: { address: '${gateway}' }
state_dir: /var/lib/hoodcloud
allow_http_hosts: [${artifactHost}]
components:
  - binary_name: ${SERVICE.name}
    data_dir: ${SERVICE.dataDir}
    ${RUNTIMES[adapter].component}
`;
}
