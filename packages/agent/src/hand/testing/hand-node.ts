import { readFile } from 'node:fs/promises';
import { ArtifactKind } from '@hoodcloud/contracts/wire/agent-v1';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { engineOf } from '@hoodcloud/testkit/docker-lab/docker-host';
import type { DockerLab } from '@hoodcloud/testkit/docker-lab/docker-lab';
import { imageHere } from '@hoodcloud/testkit/docker-lab/image-pull';
import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import { checksumOf } from '../../host/file-hash.ts';
import { TEST_NODE_SCRIPT, testArtifact } from '../../runtime/test-artifacts.ts';

/** The first is installed. */
export type Version = 'v1' | 'v2' | 'v3';

interface Release {
  readonly kind: ArtifactKind;
  readonly url: string;
  readonly checksum: string;
}

/** A small real service on a lab host, in its first version. */
export interface HandNode {
  readonly host: Host;
  /** The agent's entry for it. */
  readonly component: object;
  readonly releases: Readonly<Record<Version, Release>>;
  /** Checksum or digest of what runs, asked of the host and not of the agent. @throws when nothing does */
  runs(): Promise<string>;
  /** Nothing can be fetched any more. */
  closeReleases(): Promise<void>;
}

export const CONFIG = '/etc/app/config.toml';
/** The second line is what `doctor` warns of: a program that may bring another version back at each start. */
const UNIT_FILE = `[Service]
ExecStartPre=/bin/true /opt/app/node
ExecStart=/opt/app/node /opt/app/node.sh
WorkingDirectory=/
Restart=always
`;

/** What the config of a version says. */
export function configOf(version: Version): string {
  return `version = ${version}\n`;
}

async function layConfig(host: Host): Promise<void> {
  await host.sh('mkdir -p /srv/app');
  await host.writeFile(CONFIG, configOf('v1'), 0o640);
}

export async function unitNode(lab: DockerLab): Promise<HandNode> {
  const host = await lab.hosts.up('handunit');
  const artifacts = await ArtifactServer.listen(lab.hosts.controlAddress);
  const files = await ofEach(() => testArtifact('runs'));
  await layConfig(host);
  await host.writeFile('/opt/app/node', files.v1, 0o755);
  await host.writeFile('/opt/app/node.sh', TEST_NODE_SCRIPT);
  await host.writeFile('/etc/systemd/system/app.service', UNIT_FILE);
  await host.sh('systemctl daemon-reload; systemctl start app.service');
  return {
    host,
    component: {
      ...{ binary_name: 'app', install_path: '/opt/app/node', data_dir: '/srv/app', config_roots: ['/etc/app'] },
      runtime: { type: 'systemd', unit: 'app.service' },
    },
    releases: await ofEach(async (version) => ({
      kind: ArtifactKind.FILE,
      url: artifacts.publish(version, files[version]),
      checksum: checksumOf(files[version]),
    })),
    runs: async () => {
      const pid = Number(await host.must('systemctl', 'show', 'app.service', '-p', 'MainPID', '--value'));
      return checksumOf(await readFile(`${await processFolder(host, pid)}/exe`));
    },
    closeReleases: () => artifacts.close(),
  };
}

/** The process as the machine sees it: its /proc is that of the host's own PID 1. */
async function processFolder(host: Host, pid: number): Promise<string> {
  return `/proc/${await host.pid()}/root/proc/${pid}`;
}

export async function containerNode(lab: DockerLab, host: Host): Promise<HandNode> {
  const images = await ofEach((version) => lab.registry.pushService('app', { version }));
  const engine = await engineOf(host);
  await layConfig(host);
  const container = await engine.createContainer({
    name: 'app',
    Image: await imageHere(engine, images.v1),
    HostConfig: { RestartPolicy: { Name: 'always' }, Binds: ['/etc/app:/etc/app'] },
  });
  await container.start();
  return {
    host,
    component: {
      ...{ binary_name: 'app', data_dir: '/srv/app', config_roots: ['/etc/app'] },
      runtime: { type: 'docker', container: 'app' },
    },
    releases: await ofEach(async (version) => {
      const url = images[version];
      return { kind: ArtifactKind.IMAGE, url, checksum: digestIn(url) };
    }),
    runs: async () => {
      const { State, Config } = await engine.getContainer('app').inspect();
      if (!State.Running) throw new Error(`the container is ${State.Status}`);
      return digestIn(Config.Image);
    },
    closeReleases: () => lab.registry.stop(),
  };
}

async function ofEach<T>(make: (version: Version) => Promise<T>): Promise<Record<Version, T>> {
  return { v1: await make('v1'), v2: await make('v2'), v3: await make('v3') };
}

function digestIn(reference: string): string {
  return reference.slice(reference.indexOf('@') + 1);
}
