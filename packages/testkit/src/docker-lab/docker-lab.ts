import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { createLab, type HostLab, hostsAvailable } from '../host-lab/host-lab.ts';
import { HostLabError } from '../host-lab/lab-command.ts';
import type { Bind, Host } from '../host-lab/lab-host.ts';
import { engineOf, startEngine } from './docker-host.ts';
import { TestRegistry } from './test-registry.ts';

const PROGRAMS = {
  dockerd: 'docker.io',
  'docker-registry': 'docker-registry',
  busybox: 'busybox-static',
  podman: 'podman',
};

interface EngineHostOptions {
  readonly binds?: readonly Bind[];
  readonly limits?: boolean;
}

/**
 * Real Docker for tests: hosts of a host lab with an engine each, and one registry that they pull from.
 * What a killed run left is removed by the next lab, as with every host lab.
 */
export class DockerLab {
  readonly hosts: HostLab;
  readonly registry: TestRegistry;

  constructor(hosts: HostLab, registry: TestRegistry) {
    this.hosts = hosts;
    this.registry = registry;
  }

  /**
   * Boots a host with an engine and answers both. Published ports are at `host.ip`; inside the host the engine listens
   * at `/run/docker.sock`.
   * @param name as for `HostLab.up`
   * @param options.limits as for `startEngine`
   */
  async up(name: string, options: EngineHostOptions = {}): Promise<{ host: Host; engine: Docker }> {
    const host = await this.hosts.up(name, options);
    await startEngine(this.hosts, host, options);
    return { host, engine: await engineOf(host) };
  }

  /** Ends and deletes everything. */
  async clean(): Promise<void> {
    await this.registry.stop();
    await this.hosts.clean();
  }
}

/**
 * A registry and the first host with its engine (the lab's network comes with it); more hosts by `lab.up`.
 * @param options.credentials the registry asks for `REGISTRY_ACCOUNT`
 */
export async function createDockerLab(
  firstHost: string,
  options: EngineHostOptions & { readonly credentials?: boolean } = {},
): Promise<{ lab: DockerLab; host: Host; engine: Docker }> {
  const hosts = await createLab();
  const registry = new TestRegistry({
    folder: join(hosts.dir, 'registry'),
    listenAt: hosts.controlAddress,
    credentials: options.credentials ?? false,
  });
  const lab = new DockerLab(hosts, registry);
  try {
    const first = await lab.up(firstHost, options);
    await registry.start();
    return { lab, ...first };
  } catch (error) {
    await lab.clean();
    throw error;
  }
}

/**
 * Whether tests with a real Docker engine can run here. Says in one line why not, and refuses to let them be skipped in CI.
 * @throws HostLabError in CI (`CI` set) on a machine without the means
 */
export function dockerAvailable(): boolean {
  if (!hostsAvailable()) return false;
  const folders = (process.env.PATH ?? '').split(':').concat('/usr/bin', '/usr/sbin');
  const missing = Object.entries(PROGRAMS)
    .filter(([program]) => !folders.some((folder) => existsSync(join(folder, program))))
    .map(([, debianPackage]) => debianPackage);
  if (missing.length === 0) return true;
  const obstacle = `the Docker lab needs the Debian packages ${missing.join(', ')}`;
  if (process.env.CI) throw new HostLabError(`Docker tests may not be skipped in CI: ${obstacle}`);
  process.stderr.write(`skipped: ${obstacle}\n`);
  return false;
}
