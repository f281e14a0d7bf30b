import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { MinisignKey } from '@hoodcloud/contracts/signature/minisign';
import { createMigratedDatabase, type MigratedDatabase } from '@hoodcloud/testkit/migrated-database';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { Registry } from 'prom-client';
import { approvalRoutes } from '../../approvals/approval-routes.ts';
import { accessRoutes } from '../../auth/access-routes.ts';
import { apiKeyAuthenticator, createApiKey } from '../../auth/api-keys.ts';
import type { Authenticator } from '../../auth/dual-auth-middleware.ts';
import { GoTemplateRenderer } from '../../config-rendering/go-template-renderer.ts';
import { renderForNodes } from '../../config-rendering/render-for-nodes.ts';
import type { SignInSource } from '../../dashboard/dashboard-pages.ts';
import type { Database } from '../../db/database.ts';
import { Notifications } from '../../db/notifications.ts';
import { eventRoutes } from '../../events/event-routes.ts';
import type { Feature, Logger } from '../../feature.ts';
import { incidentRoutes } from '../../incidents/incident-routes.ts';
import { ChainFiles } from '../../manifests/chain-files.ts';
import { chainRoutes } from '../../manifests/chain-routes.ts';
import { FileReader } from '../../manifests/file-reader.ts';
import { nodeRoutes } from '../../nodes/node-routes.ts';
import { notificationRoutes } from '../../notifications/notification-routes.ts';
import { overrideRoutes } from '../../policies/override-routes.ts';
import { policyRoutes } from '../../policies/policy-routes.ts';
import { groupRoutes } from '../../rollout-groups/group-routes.ts';
import { planRoutes } from '../../rollout-plans/plan-routes.ts';
import type { ArtifactProbe } from '../../rollouts/plan/artifact-checks.ts';
import { probeArtifactByHead } from '../../rollouts/plan/probe-artifact.ts';
import { rolloutRoutes } from '../../rollouts/rollout-routes.ts';
import { createApiServer } from '../api-server.ts';

/** The answer of a request, its body parsed. */
export interface Answer<Body> {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Body;
}

export interface ApiFixtureOptions {
  readonly bodyLimit?: number;
  readonly requestsPerMinute?: number;
  readonly dashboardFolder?: string;
  readonly signIn?: SignInSource;
  /** Whose signatures manifests need. */
  readonly manifestKeys?: readonly MinisignKey[];
  /** Whose the caller stays; one of its own when left out. */
  readonly database?: MigratedDatabase;
  /** Beside API keys. */
  readonly authenticators?: (db: Database) => readonly Authenticator[];
}

/** The whole API over a real database and a config folder of its own, called without a socket. */
export class ApiFixture {
  readonly database: MigratedDatabase;
  readonly app: FastifyInstance;
  readonly configDir: string;
  readonly key: string;
  readonly logged: object[];
  readonly #notifications: Notifications;
  readonly #ownsDatabase: boolean;

  private constructor(
    parts: Pick<ApiFixture, 'database' | 'app' | 'configDir' | 'key' | 'logged'>,
    notifications: Notifications,
    ownsDatabase: boolean,
  ) {
    this.database = parts.database;
    this.app = parts.app;
    this.configDir = parts.configDir;
    this.key = parts.key;
    this.logged = parts.logged;
    this.#notifications = notifications;
    this.#ownsDatabase = ownsDatabase;
  }

  static async create(options: ApiFixtureOptions = {}): Promise<ApiFixture> {
    const database = options.database ?? (await createMigratedDatabase());
    const configDir = await mkdtemp(join(tmpdir(), 'hoodcloud-api-'));
    const logged: object[] = [];
    const notifications = await Notifications.open(database.url, (error) => logged.push(error));
    const log = {
      info: () => undefined,
      warn: (fields: object) => void logged.push(fields),
      error: (fields: object) => void logged.push(fields),
    };
    const app = await createApiServer({
      features: featuresOf({ database, configDir, notifications, log, manifestKeys: options.manifestKeys ?? [] }),
      authenticators: [apiKeyAuthenticator(database.db), ...(options.authenticators?.(database.db) ?? [])],
      log,
      metrics: new Registry(),
      notReady: async () => null,
      ...(options.dashboardFolder !== undefined && { dashboardFolder: options.dashboardFolder }),
      ...(options.signIn !== undefined && { signIn: options.signIn }),
      ...(options.bodyLimit !== undefined && { bodyLimit: options.bodyLimit }),
      ...(options.requestsPerMinute !== undefined && { requestsPerMinute: options.requestsPerMinute }),
    });
    const { key } = await createApiKey(database.db, { name: 'test', createdBy: 'system:test' });
    return new ApiFixture({ database, app, configDir, key, logged }, notifications, options.database === undefined);
  }

  async call<Body>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<Body>> {
    const options: InjectOptions = {
      method,
      url: `/api/v1${path}`,
      headers: { authorization: `Bearer ${this.key}`, ...headers },
      ...(body !== undefined && { payload: body as object }),
    };
    const response = await this.app.inject(options);
    return { status: response.statusCode, headers: response.headers, body: parsed(response.body) as Body };
  }

  async writeConfig(file: string, text: string): Promise<void> {
    const path = join(this.configDir, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }

  async dispose(): Promise<void> {
    await this.app.close();
    await this.#notifications.close();
    if (this.#ownsDatabase) await this.database.dispose();
    await rm(this.configDir, { recursive: true });
  }
}

interface FixtureParts extends Pick<ApiFixture, 'database' | 'configDir'> {
  readonly notifications: Notifications;
  readonly log: Logger;
  readonly manifestKeys: readonly MinisignKey[];
}

function featuresOf({ database: { db }, configDir, notifications, log, manifestKeys }: FixtureParts): Feature[] {
  const chains = new ChainFiles(() => configDir, manifestKeys);
  const manifests = new FileReader(() => configDir, manifestKeys);
  const renderer = new GoTemplateRenderer();
  const targets = { chains, renderConfigs: renderForNodes(db, renderer) };
  const plans = { renderer, probeArtifact: probeHere };
  const sources = { files: { chains, manifests }, targets, plans };
  return [
    { name: 'auth', routes: accessRoutes(db) },
    { name: 'policies', routes: policyRoutes(db) },
    { name: 'overrides', routes: overrideRoutes(db, chains) },
    { name: 'nodes', routes: nodeRoutes(db, chains) },
    { name: 'approvals', routes: approvalRoutes(db) },
    { name: 'manifests', routes: chainRoutes({ db, chains, manifests }) },
    { name: 'incidents', routes: incidentRoutes(db) },
    { name: 'rollouts', routes: rolloutRoutes({ db, sources, reads: { chains, manifests } }) },
    { name: 'rollout-plans', routes: planRoutes({ db, sources, reads: { chains, manifests } }) },
    { name: 'notifications', routes: notificationRoutes(db) },
    { name: 'rollout-groups', routes: groupRoutes({ db, sources }) },
    { name: 'events', routes: eventRoutes({ db, notifications, log }) },
  ];
}

/** Asks servers of the test; the addresses of examples lead out of it. */
async function probeHere(url: string): Promise<ArtifactProbe> {
  if (new URL(url).hostname === '127.0.0.1') return probeArtifactByHead(2000)(url);
  return { state: 'not_asked', size_bytes: null, remark: 'The test asks nobody outside.' };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A profile that fits `testkit/rows`. */
export const TEST_PROFILE = `chain_profile_id: testchain
node_types: [validator, full]
binaries:
  - name: cometbft
variables: { max_peers: "10" }
health:
  healthy_expression: metrics.up == 1
  synced_expression: metrics.syncing == 0
  health_wait_seconds: 7
`;
