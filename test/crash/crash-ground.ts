import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GatewayFixture } from '@hoodcloud/controlplane/gateway/testing/gateway-fixture';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { TestRegistry } from '@hoodcloud/testkit/docker-lab/test-registry';
import { createLab, type HostLab } from '@hoodcloud/testkit/host-lab/host-lab';
import { fileRelease, imageRelease, type Release } from './small-service.ts';

/** The releases of one kind: two that run, and one that ends as soon as it is started. */
export interface Releases {
  readonly good: readonly [Release, Release];
  readonly bad: Release;
}

/** What every lane shares: a lab, a database behind the gateways, and the releases with their servers. */
export class CrashGround {
  readonly lab: HostLab;
  readonly fixture: GatewayFixture;
  /** Each cell that breaks a rule leaves its log there. */
  readonly logs: string;
  readonly #artifacts: ArtifactServer;
  readonly #registry: TestRegistry;
  readonly #releases: Readonly<Record<'file' | 'image', Releases>>;

  private constructor(parts: {
    lab: HostLab;
    fixture: GatewayFixture;
    logs: string;
    artifacts: ArtifactServer;
    registry: TestRegistry;
    releases: Readonly<Record<'file' | 'image', Releases>>;
  }) {
    this.lab = parts.lab;
    this.fixture = parts.fixture;
    this.logs = parts.logs;
    this.#artifacts = parts.artifacts;
    this.#registry = parts.registry;
    this.#releases = parts.releases;
  }

  static async prepare(): Promise<CrashGround> {
    const lab = await createLab();
    const first = await lab.up('first'); // brings the network that all servers listen on
    const fixture = await GatewayFixture.create();
    const artifacts = await ArtifactServer.listen(lab.controlAddress);
    const registry = new TestRegistry({ folder: join(lab.dir, 'registry'), listenAt: lab.controlAddress });
    await registry.start();
    await first.down();
    const file: Releases = {
      good: [await fileRelease(artifacts, 'v1'), await fileRelease(artifacts, 'v2')],
      bad: await fileRelease(artifacts, 'v3', 'ends_at_once'),
    };
    const image: Releases = {
      good: [await imageRelease(registry, 'v1'), await imageRelease(registry, 'v2')],
      bad: await imageRelease(registry, 'v3', 'ends_at_once'),
    };
    const logs = process.env.HOODCLOUD_CRASH_LOGS ?? (await mkdtemp(join(tmpdir(), 'hoodcloud-crash-logs-')));
    return new CrashGround({ lab, fixture, logs, artifacts, registry, releases: { file, image } });
  }

  releasesOf(kind: Release['kind']): Releases {
    return this.#releases[kind];
  }

  async close(): Promise<void> {
    await this.lab.clean();
    await this.#artifacts.close();
    await this.#registry.stop();
    await this.fixture.dispose();
  }
}
