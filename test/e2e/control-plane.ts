import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CreateNodeInput, JoinTokenView, NodeView } from '@hoodcloud/contracts/http/nodes';
import { createApiKey } from '@hoodcloud/controlplane/auth/api-keys';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import { sharedTemporalAddress } from '@hoodcloud/testkit/temporal';
import { type RoleName, RoleProcess } from './role-process.ts';

const HOODCTL = fileURLToPath(new URL('../../packages/cli/src/bin/hoodctl.ts', import.meta.url));

export interface ControlPlaneOptions {
  /** Chain profiles and upgrade manifests. */
  readonly configDir: string;
  /** Address on which agents reach the gateway. */
  readonly gatewayHost: string;
}

/** What hoodctl said. */
export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Every role as a process of its own over a database of its own and the run's Temporal, and the ways to speak to it. */
export class ControlPlane {
  readonly database: MigratedDatabase;
  /** Logs of the roles, one file each. */
  readonly logs: string;
  readonly #roles: ReadonlyMap<RoleName, RoleProcess>;
  readonly #key: string;

  private constructor(
    database: MigratedDatabase,
    logs: string,
    roles: ReadonlyMap<RoleName, RoleProcess>,
    key: string,
  ) {
    this.database = database;
    this.logs = logs;
    this.#roles = roles;
    this.#key = key;
  }

  static async start({ configDir, gatewayHost }: ControlPlaneOptions): Promise<ControlPlane> {
    const database = await createMigratedDatabase();
    const logs = await mkdtemp(join(tmpdir(), 'hoodcloud-roles-'));
    const environment = {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: sharedTemporalAddress(),
      HOODCLOUD_TASK_QUEUE: `e2e-${randomUUID()}`,
      HOODCLOUD_CONFIG_DIR: configDir,
      HOODCLOUD_API_LISTEN: '127.0.0.1:0',
      HOODCLOUD_GATEWAY_LISTEN: `${gatewayHost}:0`,
      HOODCLOUD_METRICS_LISTEN: '127.0.0.1:0',
    };
    const start = async (role: RoleName) =>
      [role, await RoleProcess.start(role, environment, join(logs, `${role}.log`))] as const;
    const names: readonly RoleName[] = ['worker', 'reconciler', 'gateway', 'api'];
    const roles = new Map(await Promise.all(names.map(start)));
    const { key } = await createApiKey(database.db, { name: 'e2e', createdBy: 'system:test' });
    return new ControlPlane(database, logs, roles, key);
  }

  /** `host:port` for agents. */
  get gatewayAddress(): string {
    return this.#role('gateway').address;
  }

  /** Adds a node and makes its one-time join token. */
  async addNode(node: CreateNodeInput): Promise<JoinTokenView> {
    const { id } = await this.post<NodeView>('/nodes', node);
    return this.post<JoinTokenView>(`/nodes/${id}/join-token`, {});
  }

  get<T>(path: string): Promise<T> {
    return this.#call('GET', path);
  }

  post<T>(path: string, body: unknown): Promise<T> {
    return this.#call('POST', path, JSON.stringify(body));
  }

  /** Runs hoodctl against this control plane; any exit code is a value. */
  hoodctl(...args: readonly string[]): Promise<Said> {
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, HOODCLOUD_URL: this.#role('api').address, HOODCLOUD_API_KEY: this.#key };
    return new Promise((resolve) => {
      execFile(process.execPath, ['--import', 'tsx', HOODCTL, ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#roles.values()].map((role) => role.stop()));
    await this.database.dispose();
    await rm(this.logs, { recursive: true, force: true });
  }

  async #call<T>(method: string, path: string, body?: string): Promise<T> {
    const headers = { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' };
    const response = await fetch(`${this.#role('api').address}/api/v1${path}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  #role(name: RoleName): RoleProcess {
    const role = this.#roles.get(name);
    if (role === undefined) throw new Error(`${name} was never started`);
    return role;
  }
}
