import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RolloutDetail } from '@hoodcloud/contracts/http/rollout-views';
import type { RolloutStatus } from '@hoodcloud/domain/rollout-status';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { until } from '@hoodcloud/testkit/until';
import { manifestFor, writeChain, writeManifest } from '../e2e/stack/chain-folder.ts';
import { Hoodctl } from '../e2e/stack/hoodctl.ts';
import { MetricsExporter } from '../e2e/stack/metrics-exporter.ts';
import { bundlePrograms, type Programs } from '../e2e/stack/programs.ts';
import { NODE_TYPE, TinyHost } from '../e2e/stack/tiny-host.ts';
import { type TinyRelease, tinyRelease } from '../e2e/stack/tiny-release.ts';
import type { ComposeProject } from './compose-project.ts';

const CHAIN = 'deployed';
/** An attempt whose workflow is not there any more is taken up after ten minutes of silence (B4). */
const LONG_MS = 900_000;

/** Two agents with tiny nodes that joined the control plane of a compose project by TLS, and an operator with hoodctl. */
export class DeployedFleet {
  readonly hosts: readonly TinyHost[];
  readonly #project: ComposeProject;
  readonly #programs: Programs;
  readonly #hoodctl: Hoodctl;
  readonly #artifacts: ArtifactServer;
  readonly #exporter: MetricsExporter;
  readonly #folder: string;

  private constructor(parts: {
    readonly project: ComposeProject;
    readonly programs: Programs;
    readonly hoodctl: Hoodctl;
    readonly artifacts: ArtifactServer;
    readonly exporter: MetricsExporter;
  }) {
    this.#project = parts.project;
    this.#programs = parts.programs;
    this.#hoodctl = parts.hoodctl;
    this.#artifacts = parts.artifacts;
    this.#exporter = parts.exporter;
    this.#folder = mkdtempSync(join(tmpdir(), 'hoodcloud-deployed-'));
    const plane = {
      gateway: `${parts.project.host.ip}:9090`,
      hoodctl: parts.hoodctl,
      authority: parts.project.authority,
    };
    const hostParts = { plane, programs: parts.programs, exporter: parts.exporter, folder: this.#folder };
    this.hosts = ['node-1', 'node-2'].map((name) => new TinyHost(hostParts, CHAIN, name));
  }

  /** Joins the hosts, running v1. */
  static async join(project: ComposeProject): Promise<DeployedFleet> {
    const created = await project.compose(
      'exec',
      '-T',
      'api',
      '/usr/bin/node',
      'hoodcloud.mjs',
      'create-api-key',
      'test',
    );
    const [programs, artifacts, exporter] = await Promise.all([
      bundlePrograms(),
      ArtifactServer.listen(),
      MetricsExporter.listen(),
    ]);
    const url = `http://${project.host.ip}:8080`;
    const hoodctl = new Hoodctl(programs.hoodctl, { url, apiKey: created.trim() });
    const fleet = new DeployedFleet({ project, programs, hoodctl, artifacts, exporter });
    const before = tinyRelease('v1');
    writeChain(project.chains, CHAIN, { known: [before], budgets: { stop_seconds: 600 } });
    for (const host of fleet.hosts) {
      host.install(before);
      await host.join();
      host.agent.start();
    }
    await Promise.all(fleet.hosts.map((host) => fleet.untilRuns(host, before)));
    return fleet;
  }

  async untilRuns(host: TinyHost, release: TinyRelease): Promise<void> {
    await until(`${host.name} to be healthy with ${release.version}`, async () => {
      const node = await host.view();
      return node.components[0]?.binary_version === release.version && node.online && node.state === 'healthy';
    });
  }

  /** Orders a rollout over both hosts, one after the other, and starts it. @returns its id */
  async roll(release: TinyRelease): Promise<string> {
    const url = this.#artifacts.publish(`${CHAIN}/${release.version}`, release.content);
    const upgrade = writeManifest(this.#project.chains, manifestFor(CHAIN, release, url));
    const words = [
      '--chain',
      CHAIN,
      '--type',
      NODE_TYPE,
      '--upgrade',
      upgrade,
      '--strategy',
      'rolling',
      '--batch-size',
      '1',
    ];
    const { id } = JSON.parse(
      await this.#hoodctl.does('rollout', 'create', ...words, '--output', 'json'),
    ) as RolloutDetail;
    await this.#hoodctl.does('rollout', 'start', id);
    return id;
  }

  rollout(id: string): Promise<RolloutDetail> {
    return this.#hoodctl.get<RolloutDetail>(`/rollouts/${id}`);
  }

  async untilStatus(id: string, status: RolloutStatus): Promise<RolloutDetail> {
    return until(
      `the rollout to be ${status}`,
      async () => {
        const rollout = await this.rollout(id);
        if (rollout.status === status) return rollout;
        throw new Error(`${rollout.status}: ${await this.#hoodctl.does('rollout', 'nodes', id)}`);
      },
      LONG_MS,
    );
  }

  /** The node that was told to stop and waits for `stopAtLast`. */
  closing(): Promise<TinyHost> {
    return until('a node to be stopping', async () => this.hosts.find((host) => host.isClosing()), LONG_MS);
  }

  async dispose(): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.dispose()));
    await Promise.all([this.#artifacts.close(), this.#exporter.close()]);
    this.#programs.dispose();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
