import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RolloutDetail, RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import type { RolloutStatus } from '@hoodcloud/domain/rollout-status';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { until } from '@hoodcloud/testkit/until';
import { type ManifestFields, manifestFor, writeManifest } from './chain-folder.ts';
import { ControlPlane } from './control-plane.ts';
import { MetricsExporter } from './metrics-exporter.ts';
import { bundlePrograms, type Programs } from './programs.ts';
import type { Stores } from './stores.ts';
import { NODE_TYPE, TinyHost } from './tiny-host.ts';
import type { TinyRelease } from './tiny-release.ts';

/** Everything that runs in an end-to-end test on loopback: the four roles, real agents with tiny nodes, release files. */
export class Stack {
  readonly plane: ControlPlane;
  readonly artifacts: ArtifactServer;
  readonly programs: Programs;
  readonly hosts: TinyHost[] = [];
  readonly #stores: Stores;
  readonly #exporter: MetricsExporter;
  readonly #folder = mkdtempSync(join(tmpdir(), 'hoodcloud-hosts-'));

  private constructor(parts: {
    readonly plane: ControlPlane;
    readonly artifacts: ArtifactServer;
    readonly exporter: MetricsExporter;
    readonly programs: Programs;
    readonly stores: Stores;
  }) {
    this.plane = parts.plane;
    this.artifacts = parts.artifacts;
    this.programs = parts.programs;
    this.#exporter = parts.exporter;
    this.#stores = parts.stores;
  }

  /** @param stores given to the stack, which ends them */
  static async open(stores: Stores): Promise<Stack> {
    const programs = await bundlePrograms();
    const [plane, artifacts, exporter] = await Promise.all([
      ControlPlane.start({ programs, ...stores, heartbeatSeconds: 2 }), // a tiny node has nothing to say that takes longer
      ArtifactServer.listen(),
      MetricsExporter.listen(),
    ]);
    return new Stack({ plane, artifacts, exporter, programs, stores });
  }

  /** A host with nothing running on it yet. */
  bareHost(chain: string, name?: string): TinyHost {
    const parts = { plane: this.plane, programs: this.programs, exporter: this.#exporter, folder: this.#folder };
    const host = new TinyHost(parts, chain, name);
    this.hosts.push(host);
    return host;
  }

  /** Hosts that have joined, run the release, and are known to: online, healthy, with a version. */
  async fleet(chain: string, size: number, release: TinyRelease): Promise<TinyHost[]> {
    const hosts = Array.from({ length: size }, () => this.bareHost(chain));
    await Promise.all(
      hosts.map(async (host) => {
        host.install(release);
        await host.join();
        host.agent.start();
      }),
    );
    await Promise.all(hosts.map((host) => this.untilKnown(host, release)));
    return hosts;
  }

  /** Waits until the control plane shows the node healthy with this version. */
  async untilKnown(host: TinyHost, release: TinyRelease): Promise<void> {
    await until(`${host.name} to be healthy with ${release.version}`, async () => {
      const node = await host.view();
      const running = node.components[0];
      if (running?.binary_version === release.version && node.online && node.state === 'healthy') return true;
      throw new Error(`${node.state}, ${running?.binary_version}\n${host.agent.logTail()}`);
    });
  }

  /** Publishes a release and writes its manifest. @returns the upgrade_id */
  offer(chain: string, release: TinyRelease, fields: ManifestFields = {}): string {
    const url = this.artifacts.publish(`${chain}/${release.version}`, release.content);
    return writeManifest(this.plane.configDir, manifestFor(chain, release, url, fields));
  }

  /** Creates a rollout by hoodctl. @returns its id @throws HoodctlFailed with what the operator saw */
  async create(chain: string, upgradeId: string, ...flags: string[]): Promise<string> {
    const words = ['--chain', chain, '--type', NODE_TYPE, '--upgrade', upgradeId, '--output', 'json', ...flags];
    return (JSON.parse(await this.plane.hoodctl.does('rollout', 'create', ...words)) as RolloutDetail).id;
  }

  /** Asks the API itself, for the many looks of a test; what a person orders goes through hoodctl. */
  async get<Answer>(path: string): Promise<Answer> {
    return this.plane.hoodctl.get<Answer>(path);
  }

  rollout(id: string): Promise<RolloutDetail> {
    return this.get(`/rollouts/${id}`);
  }

  async nodesOf(id: string): Promise<RolloutNodeView[]> {
    return (await this.get<{ items: RolloutNodeView[] }>(`/rollouts/${id}/nodes`)).items;
  }

  /** Waits until the rollout has one of the statuses. */
  untilStatus(id: string, ...statuses: RolloutStatus[]): Promise<RolloutDetail> {
    return until(`rollout ${id} to be ${statuses.join(' or ')}`, async () => {
      const rollout = await this.rollout(id);
      if (statuses.includes(rollout.status)) return rollout;
      throw new Error(JSON.stringify({ rollout, nodes: await this.nodesOf(id) }));
    });
  }

  async dispose(): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.dispose()));
    await this.plane.dispose();
    await Promise.all([this.artifacts.close(), this.#exporter.close()]);
    await this.#stores.dispose();
    this.programs.dispose();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
