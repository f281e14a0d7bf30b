import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase, openPool } from '@hoodcloud/controlplane/db/database';
import { migrate } from '@hoodcloud/controlplane/db/migrate';
import { freePorts } from '@hoodcloud/controlplane/dev/child-server';
import { TestAuthority } from '@hoodcloud/controlplane/gateway/testing/certificates';
import { FleetProcess } from '@hoodcloud/testkit/fleet-simulator/fleet-process';
import { insertFleet } from '@hoodcloud/testkit/fleet-simulator/insert-fleet';
import type { SimulatedIdentity } from '@hoodcloud/testkit/fleet-simulator/simulated-agent';
import type { UpgradeScript } from '@hoodcloud/testkit/fleet-simulator/upgrade-script';
import { ALL_GOOD } from '@hoodcloud/testkit/fleet-simulator/upgrade-script';
import { startTestPostgres, type TestPostgres } from '@hoodcloud/testkit/postgres';
import { checksumOf } from '@hoodcloud/testkit/rows';
import { until } from '@hoodcloud/testkit/until';
import { Child } from '../../e2e/stack/child.ts';
import { bundlePrograms, type Programs } from '../../e2e/stack/programs.ts';

export const STAND = { chainProfileId: 'testchain', nodeType: 'validator', binaryName: 'cometbft', version: 'v1.0.0' };
const RUNNING = checksumOf('a');

export interface FleetWishes {
  readonly heartbeatMs: number | null;
  readonly connectsPerSecond: number;
  readonly script?: UpgradeScript;
  /** `host:port`; the stand's own gateway when left out. */
  readonly gateway?: string;
}

/** The shipped gateway with mTLS as a process of its own on a Postgres of its own, and a simulated fleet that may dial it. */
export class GatewayStand {
  readonly address: string;
  readonly authority: TestAuthority;
  readonly db: ReturnType<typeof openDatabase>;
  readonly pool: ReturnType<typeof openPool>;
  readonly gateway: Child;
  readonly #metrics: string;
  readonly #postgres: TestPostgres;
  readonly #programs: Programs;
  /** For what a bench keeps beside it; gone with the stand. */
  readonly folder: string;
  readonly files: { readonly key: string; readonly certificate: string; readonly authority: string };
  #fleet: FleetProcess | null = null;

  private constructor(parts: {
    address: string;
    metrics: string;
    authority: TestAuthority;
    pool: ReturnType<typeof openPool>;
    gateway: Child;
    postgres: TestPostgres;
    programs: Programs;
    folder: string;
    files: GatewayStand['files'];
  }) {
    this.address = parts.address;
    this.#metrics = parts.metrics;
    this.authority = parts.authority;
    this.pool = parts.pool;
    this.db = openDatabase(parts.pool);
    this.gateway = parts.gateway;
    this.#postgres = parts.postgres;
    this.#programs = parts.programs;
    this.folder = parts.folder;
    this.files = parts.files;
  }

  static async start(): Promise<GatewayStand> {
    const programs = await bundlePrograms();
    const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-gateway-stand-'));
    const postgres = await startTestPostgres();
    const url = postgres.server.url();
    const pool = openPool(url, { max: 4, onIdleError: () => undefined });
    await migrate(openDatabase(pool));
    const authority = new TestAuthority();
    const { key, certificate } = authority.issue('gateway');
    const files = {
      key: join(folder, 'key.pem'),
      certificate: join(folder, 'cert.pem'),
      authority: join(folder, 'ca.pem'),
    };
    writeFileSync(files.key, key);
    writeFileSync(files.certificate, certificate);
    writeFileSync(files.authority, authority.certificate);
    mkdirSync(join(folder, 'chains'));
    const [port, metricsPort] = await freePorts(2);
    const [address, metrics] = [`127.0.0.1:${port}`, `127.0.0.1:${metricsPort}`];
    const env = {
      ...process.env,
      DATABASE_URL: url,
      TEMPORAL_ADDRESS: '127.0.0.1:1', // a gateway never asks it
      HOODCLOUD_CONFIG_DIR: join(folder, 'chains'),
      HOODCLOUD_GATEWAY_LISTEN: address,
      HOODCLOUD_GATEWAY_TLS_KEY: files.key,
      HOODCLOUD_GATEWAY_TLS_CERT: files.certificate,
      HOODCLOUD_GATEWAY_TLS_CLIENT_CA: files.authority,
      HOODCLOUD_METRICS_LISTEN: metrics,
    };
    const gateway = new Child('gateway', [...programs.hoodcloud, 'gateway'], env, join(folder, 'gateway.log'));
    const stand = new GatewayStand({ address, metrics, authority, pool, gateway, postgres, programs, folder, files });
    try {
      await stand.startGateway();
      return stand;
    } catch (error) {
      await stand.dispose();
      throw error;
    }
  }

  /** Joined nodes; names count from `<prefix>-00000`. */
  insertFleet(nodes: number, namePrefix = 'sim'): Promise<SimulatedIdentity[]> {
    return insertFleet(this.pool, { ...STAND, nodes, running: RUNNING, namePrefix });
  }

  /** Agents for these nodes in a process of their own; all are connected when it answers. Those before are cut off. */
  async connect(identities: readonly SimulatedIdentity[], wishes: FleetWishes): Promise<FleetProcess> {
    await this.#fleet?.stop();
    const fleet = await FleetProcess.start({
      identities,
      gateways: [wishes.gateway ?? this.address],
      tls: { authority: this.authority.certificate, ...this.authority.issue('agent') },
      binaryName: STAND.binaryName,
      running: RUNNING,
      heightMetric: 'height',
      heartbeatMs: wishes.heartbeatMs,
      script: wishes.script ?? ALL_GOOD,
      connectsPerSecond: wishes.connectsPerSecond,
    });
    this.#fleet = fleet;
    await until(`${identities.length} agents to be connected`, async () => {
      const { connected } = await fleet.counts();
      if (connected === identities.length) return true;
      throw new Error(`${connected} are`);
    });
    return fleet;
  }

  async startGateway(): Promise<void> {
    this.gateway.start();
    await until('the gateway to be ready', async () => {
      if (!this.gateway.running) throw new Error(`it ended at its start:\n${this.gateway.logTail()}`);
      return (await fetch(`http://${this.#metrics}/readyz`)).ok;
    });
  }

  /** Longest stall of the gateway's event loop since this was asked last, ms. */
  async longestStallMs(): Promise<number> {
    const told = await (await fetch(`http://${this.#metrics}/metrics`)).text();
    return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(told)?.[1]) * 1000;
  }

  async dispose(): Promise<void> {
    await this.#fleet?.stop();
    await this.gateway.stop();
    await this.pool.end();
    await this.#postgres.dispose();
    this.authority.dispose();
    this.#programs.dispose();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
