import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiKey } from '@hoodcloud/controlplane/auth/api-keys';
import { type Database, openDatabase, openPool } from '@hoodcloud/controlplane/db/database';
import { migrate } from '@hoodcloud/controlplane/db/migrate';
import { freePorts } from '@hoodcloud/controlplane/dev/child-server';
import { until } from '@hoodcloud/testkit/until';
import { Child } from './child.ts';
import { Hoodctl } from './hoodctl.ts';
import type { Programs } from './programs.ts';

export const ROLES = ['api', 'gateway', 'worker', 'reconciler'] as const;
export type Role = (typeof ROLES)[number];

export interface ControlPlaneOptions {
  readonly programs: Programs;
  /** An empty database; its server may be killed and started again on the same address. */
  readonly databaseUrl: string;
  /** host:port of a Temporal server. */
  readonly temporalAddress: string;
  /** Where api and gateway listen: loopback, or an address that a lab's hosts reach. */
  readonly bind?: string;
  /** How often agents report; 5 when left out, as in production. */
  readonly heartbeatSeconds?: number;
  /** Further settings of every role. */
  readonly env?: NodeJS.ProcessEnv;
  /** Another one of the same database and Temporal: a second instance of each role beside its own, with its chains. */
  readonly beside?: ControlPlane;
}

/** The four roles as child processes, with a folder of chains and an operator's key. */
export class ControlPlane {
  readonly url: string;
  /** host:port for agents. */
  readonly gateway: string;
  readonly configDir: string;
  readonly db: Database;
  readonly hoodctl: Hoodctl;
  readonly taskQueue: string;
  readonly #folder: string;
  readonly #roles: ReadonlyMap<Role, { readonly child: Child; readonly readyUrl: string }>;

  private constructor(parts: {
    readonly url: string;
    readonly gateway: string;
    readonly folder: string;
    readonly configDir: string;
    readonly taskQueue: string;
    readonly db: Database;
    readonly hoodctl: Hoodctl;
    readonly roles: ReadonlyMap<Role, { readonly child: Child; readonly readyUrl: string }>;
  }) {
    this.url = parts.url;
    this.gateway = parts.gateway;
    this.#folder = parts.folder;
    this.configDir = parts.configDir;
    this.taskQueue = parts.taskQueue;
    this.db = parts.db;
    this.hoodctl = parts.hoodctl;
    this.#roles = parts.roles;
  }

  /** Brings the database to the newest schema, starts every role and waits until each says that it is ready. */
  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    const { programs, databaseUrl, temporalAddress, bind = '127.0.0.1', heartbeatSeconds = 5 } = options;
    const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-e2e-'));
    mkdirSync(join(folder, 'chains'));
    const db = openDatabase(openPool(databaseUrl, { max: 4, onIdleError: () => undefined })); // tests kill the server
    await migrate(db);
    const { key } = await createApiKey(db, { name: options.beside ? 'e2e-beside' : 'e2e', createdBy: 'test' });
    const [api, gateway, ...metrics] = await freePorts(2 + ROLES.length - 1);
    const configDir = options.beside?.configDir ?? join(folder, 'chains');
    const taskQueue = options.beside?.taskQueue ?? `e2e-${api}-${process.pid}`;
    const env = {
      ...process.env,
      ...options.env,
      DATABASE_URL: databaseUrl,
      TEMPORAL_ADDRESS: temporalAddress,
      HOODCLOUD_TASK_QUEUE: taskQueue,
      HOODCLOUD_CONFIG_DIR: configDir,
      HOODCLOUD_CACHE_DIR: join(tmpdir(), `hoodcloud-workflows-${process.getuid?.() ?? 0}`),
      HOODCLOUD_HEARTBEAT_SECONDS: String(heartbeatSeconds),
      HOODCLOUD_API_LISTEN: `${bind}:${api}`,
      HOODCLOUD_GATEWAY_LISTEN: `${bind}:${gateway}`,
    };
    const url = `http://${bind}:${api}`;
    const roles = new Map(
      ROLES.map((role, index) => {
        const metricsAt = `127.0.0.1:${metrics[index - 1] ?? 0}`; // the api's pages are on its own port
        const roleEnv = { ...env, HOODCLOUD_METRICS_LISTEN: metricsAt };
        const child = new Child(role, [...programs.hoodcloud, role], roleEnv, join(folder, `${role}.log`));
        return [role, { child, readyUrl: role === 'api' ? `${url}/readyz` : `http://${metricsAt}/readyz` }] as const;
      }),
    );
    const hoodctl = new Hoodctl(programs.hoodctl, { url, apiKey: key });
    const plane = new ControlPlane({
      url,
      gateway: `${bind}:${gateway}`,
      folder,
      configDir,
      taskQueue,
      db,
      hoodctl,
      roles,
    });
    try {
      await plane.startRoles(...ROLES);
      return plane;
    } catch (error) {
      await plane.dispose();
      throw error;
    }
  }

  role(name: Role): Child {
    return this.#of(name).child;
  }

  /** host:port where a role serves `/metrics`. */
  metricsAddress(name: Role): string {
    return new URL(this.#of(name).readyUrl).host;
  }

  /** Starts roles that don't run and waits until each is ready. */
  async startRoles(...names: Role[]): Promise<void> {
    for (const name of names) this.role(name).start();
    await Promise.all(names.map((name) => this.#untilReady(name)));
  }

  /** SIGKILL to each of them at once. */
  async killRoles(...names: Role[]): Promise<void> {
    await Promise.all(names.map((name) => this.role(name).kill()));
  }

  async dispose(): Promise<void> {
    await Promise.all(ROLES.map((name) => this.role(name).stop()));
    await this.db.destroy();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #untilReady(name: Role): Promise<void> {
    const { child, readyUrl } = this.#of(name);
    await until(`the ${name} to be ready`, async () => {
      if (!child.running) return true;
      return (await fetch(readyUrl)).ok;
    });
    if (!child.running) throw new Error(`the ${name} ended at its start:\n${child.logTail()}`);
  }

  #of(name: Role): { readonly child: Child; readonly readyUrl: string } {
    const found = this.#roles.get(name);
    if (!found) throw new Error(`there is no role ${name}`);
    return found;
  }
}
