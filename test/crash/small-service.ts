import { readFile } from 'node:fs/promises';
import { checksumOf } from '@hoodcloud/agent/host/file-hash';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import type { Adapter } from './crash-cells.ts';

/**
 * A service that is quick to start and to stop, so that a crash costs seconds: a shell running a script that writes to a
 * log of its own when it starts and when it is asked to stop. Bytes behind the end of the executable make releases of it;
 * its version stands in a config file and, under systemd, in a drop-in that only a daemon-reload brings to the process.
 */
export const SERVICE = {
  name: 'app',
  unit: 'app.service',
  binary: '/opt/app/app',
  script: '/opt/app/run.sh',
  config: '/etc/app/app.conf',
  dropIn: '/etc/systemd/system/app.service.d/version.conf',
  dataDir: '/var/lib/app',
  /** Outside every folder that an upgrade or a full disk touches. */
  log: '/var/log/app.log',
  started: 'started',
  askedToStop: 'asked to stop',
} as const;

// No program is ever forked: a fork is an instance of this very executable until it runs another one.
const SCRIPT = `trap 'echo "${SERVICE.askedToStop}" >>${SERVICE.log}; exit 0' TERM
read -r config < ${SERVICE.config}
echo "${SERVICE.started} with $config, $APP_VERSION" >>${SERVICE.log}
exec 3<>/opt/app/never
while :; do read -r _ <&3; done
`;

const UNIT_FILE = `[Service]
ExecStart=${SERVICE.binary} ${SERVICE.script}
Restart=always
RestartSec=0.25

[Install]
WantedBy=multi-user.target
`;

/** A version of the service: executable, config and drop-in belong together. */
export interface Release {
  readonly version: string;
  readonly binary: Buffer;
  readonly checksum: string;
}

/** A release that runs. */
export async function goodRelease(version: string): Promise<Release> {
  return release(version, await readFile('/usr/bin/dash'));
}

/** A release that passes every check before the stop and ends as soon as it is started. */
export async function badRelease(version: string): Promise<Release> {
  return release(version, await readFile('/usr/bin/false'));
}

function release(version: string, program: Buffer): Release {
  const binary = Buffer.concat([program, Buffer.from(version)]);
  return { version, binary, checksum: checksumOf(binary) };
}

/** The config files that belong to a version, path and content. */
export function configsOf(version: string, adapter: Adapter): { path: string; content: Buffer }[] {
  const config = { path: SERVICE.config, content: Buffer.from(`version ${version}\n`) };
  if (adapter === 'process') return [config];
  return [config, { path: SERVICE.dropIn, content: Buffer.from(`[Service]\nEnvironment=APP_VERSION=${version}\n`) }];
}

/** Puts a release in place; under systemd it runs then, otherwise the agent's supervisor starts it. */
export async function installService(host: Host, first: Release, adapter: Adapter): Promise<void> {
  await host.writeFile(SERVICE.binary, first.binary, 0o755);
  await host.writeFile(SERVICE.script, SCRIPT);
  for (const { path, content } of configsOf(first.version, adapter)) await host.writeFile(path, content);
  await host.sh(`mkfifo /opt/app/never; mkdir -p ${SERVICE.dataDir}`);
  if (adapter === 'process') return;
  await host.writeFile(`/etc/systemd/system/${SERVICE.unit}`, UNIT_FILE);
  await host.sh(`systemctl daemon-reload; systemctl enable -q --now ${SERVICE.unit}`);
}

/** The agent's own file for a host with this service. */
export function agentConfig(adapter: Adapter, gateway: string, artifactHost: string): string {
  const runtime =
    adapter === 'systemd'
      ? `{ type: systemd, unit: ${SERVICE.unit} }`
      : `{ type: process, command: [${SERVICE.binary}, ${SERVICE.script}], restart_delay_ms: 250 }`;
  return `control_plane: { address: '${gateway}' }
state_dir: /var/lib/hoodcloud
allow_http_hosts: [${artifactHost}]
components:
  - binary_name: ${SERVICE.name}
    install_path: ${SERVICE.binary}
    data_dir: ${SERVICE.dataDir}
    config_roots: [/etc/app, /etc/systemd/system/app.service.d]
    runtime: ${runtime}
`;
}
