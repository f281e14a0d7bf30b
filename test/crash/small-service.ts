import { readFile } from 'node:fs/promises';
import { checksumOf } from '@hoodcloud/agent/host/file-hash';
import type { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import type { TestRegistry } from '@hoodcloud/testkit/docker-lab/test-registry';

/**
 * A service that is quick to start and to stop, so that a crash costs seconds: a shell running a script that writes to a
 * log of its own when it starts and when it is asked to stop. Bytes behind the end of the executable make releases of it;
 * its version stands in a config file and, where the runtime has definitions, in one that brings it to the process.
 */
export const SERVICE = {
  name: 'app',
  unit: 'app.service',
  /** In a container too: processes are told by the path that they were started from. Busybox goes by its name. */
  binary: '/opt/app/busybox-app',
  script: '/opt/app/run.sh',
  config: '/etc/app/app.conf',
  dropIn: '/etc/systemd/system/app.service.d/version.conf',
  dataDir: '/var/lib/app',
  /** Nobody ever writes to it: to read it is to wait. */
  never: '/var/lib/app/never',
  /** Outside every folder that an upgrade or a full disk touches. */
  logDir: '/var/log/app',
  log: '/var/log/app/app.log',
  started: 'started',
  askedToStop: 'asked to stop',
} as const;

// No program is ever forked: a fork is an instance of this very executable until it runs another one.
export const SERVICE_SCRIPT = `trap 'echo "${SERVICE.askedToStop}" >>${SERVICE.log}; exit 0' TERM
read -r config < ${SERVICE.config}
echo "${SERVICE.started} with $config, $APP_VERSION" >>${SERVICE.log}
exec 3<>${SERVICE.never}
while :; do read -r _ <&3; done
`;

/** A version of the service: artifact and configs belong together. */
export interface Release {
  readonly version: string;
  readonly kind: 'file' | 'image';
  readonly url: string;
  /** `sha256:<hex>` of the file, or the image's digest: what an upgrade asks for and reports. */
  readonly checksum: string;
  /** `sha256:<hex>` of the executable that its processes run. */
  readonly executable: string;
  /** The file; empty for an image. */
  readonly binary: Buffer;
}

/** One that runs, or one that passes every check before the stop and ends as soon as it is started. */
export type Behaviour = 'runs' | 'ends_at_once';

/** Publishes a release as a file. */
export async function fileRelease(
  artifacts: ArtifactServer,
  version: string,
  behaviour: Behaviour = 'runs',
): Promise<Release> {
  const program = await readFile(behaviour === 'runs' ? '/usr/bin/dash' : '/usr/bin/false');
  const binary = Buffer.concat([program, Buffer.from(version)]);
  const checksum = checksumOf(binary);
  const url = artifacts.publish(version, binary);
  return { version, kind: 'file', url, checksum, executable: checksum, binary };
}

/** Publishes a release as an image; a static shell is in it, and what a container says of itself. */
export async function imageRelease(
  registry: TestRegistry,
  version: string,
  behaviour: Behaviour = 'runs',
): Promise<Release> {
  const { tarArchive } = await import('@hoodcloud/testkit/docker-lab/tar-archive');
  const binary = Buffer.concat([await readFile('/usr/bin/busybox'), Buffer.from(version)]);
  const layer = tarArchive([
    { name: 'opt/', content: 'folder' },
    { name: 'opt/app/', content: 'folder' },
    { name: 'opt/app/busybox-app', content: { file: binary } },
    { name: 'opt/app/run.sh', mode: 0o644, content: { file: SERVICE_SCRIPT } },
  ]);
  const url = await registry.push(`app:${version}`, {
    layers: [layer],
    config: {
      Cmd: [SERVICE.binary, ...(behaviour === 'runs' ? ['sh', SERVICE.script] : ['false'])],
      Env: [`APP_VERSION=${version}`],
    },
  });
  const checksum = url.split('@').at(-1) ?? '';
  return { version, kind: 'image', url, checksum, executable: checksumOf(binary), binary: Buffer.alloc(0) };
}
