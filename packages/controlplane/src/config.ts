import { hostname } from 'node:os';
import type { MinisignKey } from '@hoodcloud/contracts/signature/minisign';
import type { z } from 'zod';
import type { JwtSettings } from './auth/jwt.ts';
import { jwtSettings } from './auth/jwt-settings.ts';
import type { OidcSettings } from './auth/oidc-discovery.ts';
import { DEV_SETTINGS, SETTINGS } from './config-schema.ts';

/** A setting is missing or wrong; the message names the variable and says what it takes. */
export class ConfigError extends Error {
  readonly code = 'config';
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
  }
}

type Settings = z.infer<typeof SETTINGS>;

const HINTS: Readonly<Record<string, string>> = {
  DATABASE_URL: 'the Postgres of the control plane, e.g. postgres://user:secret@db:5432/hoodcloud',
  HOODCLOUD_CONFIG_DIR: 'the folder with chain profiles, templates and upgrades/, see examples/chains',
};

/** How to reach NATS with JetStream. */
export interface NatsSettings {
  readonly servers: readonly string[];
  readonly stream: string;
  /** A file of `nsc` with the user's credentials; null: those of the URL, or none. */
  readonly credentialsFile: string | null;
  /** PEM file of the authority that signed the servers' certificates; null: the system's. */
  readonly authorityFile: string | null;
}

/** Everything a role may be told from outside. */
export interface Config {
  readonly databaseUrl: string;
  readonly databaseConnections: number;
  readonly engine: { readonly address: string; readonly namespace: string; readonly taskQueue: string };
  /** Names this release of the worker in Temporal; null: the worker is unversioned. */
  readonly workerBuildId: string | null;
  readonly configDir: string;
  readonly apiListen: string;
  readonly gatewayListen: string;
  readonly metricsListen: string;
  readonly gatewayTls: {
    readonly key: string;
    readonly certificate: string;
    readonly clientAuthority: string | null;
  } | null;
  /** The first seals what agents are sent, all open it (C12); empty: stored as it is. */
  readonly payloadKeys: readonly Buffer[];
  /** Whose signatures of manifests count; empty: none is demanded. */
  readonly manifestKeys: readonly MinisignKey[];
  /** How much one key or user may ask of one API process. */
  readonly requestsPerMinute: number;
  /** null: API keys only. */
  readonly jwt: (JwtSettings & { readonly jwks: string }) | null;
  /** How people sign in to the dashboard at the issuer; null: by API key only. */
  readonly oidc: OidcSettings | null;
  readonly maintenanceCleanupMs: number;
  /** How often agents report; a third of what makes a node count as offline, at most. */
  readonly heartbeatIntervalMs: number;
  readonly logLevel: string;
  /** Where bundled workflow code is kept between starts of a worker; null: it is bundled at each start. */
  readonly cacheDir: string | null;
  /** Where the built dashboard is; null: where `npm run build:dashboard` puts it. */
  readonly dashboardDir: string | null;
  /** Where incidents say their runbooks are: a URL, or a path in the source tree. */
  readonly runbooks: string;
  /** Where events are published; null: they stay in the outbox, from which API and notifications serve them. */
  readonly nats: NatsSettings | null;
  /** Where traces of node upgrades are posted (OTLP over HTTP); null: none are made. */
  readonly tracesUrl: string | null;
  /** Who is told what, and how; null: nobody. */
  readonly notificationsFile: string | null;
  /** Names this process in logs. */
  readonly instance: string;
}

/**
 * Reads settings by their names: the environment, or what `settingsFrom` makes of it and a file.
 * @throws ConfigError naming every variable that is missing or wrong
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = SETTINGS.safeParse(given);
  if (!parsed.success) throw new ConfigError(parsed.error.issues.map(problem));
  const it = parsed.data;
  return {
    databaseUrl: withPassword(it.DATABASE_URL, it.HOODCLOUD_DATABASE_PASSWORD),
    databaseConnections: it.HOODCLOUD_DATABASE_CONNECTIONS,
    engine: { address: it.TEMPORAL_ADDRESS, namespace: it.TEMPORAL_NAMESPACE, taskQueue: it.HOODCLOUD_TASK_QUEUE },
    workerBuildId: it.HOODCLOUD_WORKER_BUILD_ID ?? null,
    configDir: it.HOODCLOUD_CONFIG_DIR,
    apiListen: it.HOODCLOUD_API_LISTEN,
    gatewayListen: it.HOODCLOUD_GATEWAY_LISTEN,
    metricsListen: it.HOODCLOUD_METRICS_LISTEN,
    gatewayTls: tlsFiles(it),
    payloadKeys: it.HOODCLOUD_PAYLOAD_KEYS,
    manifestKeys: it.HOODCLOUD_MANIFEST_KEYS.filter((key) => key !== null),
    requestsPerMinute: it.HOODCLOUD_API_REQUESTS_PER_MINUTE,
    ...readJwt(it),
    maintenanceCleanupMs: it.HOODCLOUD_MAINTENANCE_CLEANUP_MINUTES * 60_000,
    heartbeatIntervalMs: it.HOODCLOUD_HEARTBEAT_SECONDS * 1000,
    logLevel: it.HOODCLOUD_LOG_LEVEL,
    cacheDir: it.HOODCLOUD_CACHE_DIR ?? null,
    dashboardDir: it.HOODCLOUD_DASHBOARD_DIR ?? null,
    runbooks: it.HOODCLOUD_RUNBOOKS,
    nats: natsSettings(it),
    tracesUrl: tracesUrl(it),
    notificationsFile: it.HOODCLOUD_NOTIFICATIONS_FILE ?? null,
    instance: `${hostname()}-${process.pid}`,
  };
}

function problem(issue: z.core.$ZodIssue): string {
  const name = String(issue.path[0]);
  const missing = issue.code === 'invalid_type' && issue.input === undefined;
  const what = missing ? 'is not set' : `is wrong: it ${issue.message}`;
  const hint = HINTS[name];
  return `${name} ${what}${hint ? ` (${hint})` : ''}`;
}

/** So that the password can be a secret of its own, which the database server reads too. */
function withPassword(databaseUrl: string, password: string | undefined): string {
  if (password === undefined) return databaseUrl;
  const url = new URL(databaseUrl);
  url.password = encodeURIComponent(password);
  return url.href;
}

function natsSettings(it: Settings): NatsSettings | null {
  if (it.HOODCLOUD_NATS_URL === undefined) return null;
  return {
    servers: it.HOODCLOUD_NATS_URL,
    stream: it.HOODCLOUD_NATS_STREAM,
    credentialsFile: it.HOODCLOUD_NATS_CREDENTIALS ?? null,
    authorityFile: it.HOODCLOUD_NATS_CA ?? null,
  };
}

/** As the OpenTelemetry specification has it: the endpoint of all signals gets a path, that of traces is taken as it is. */
function tracesUrl(it: Settings): string | null {
  if (it.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT !== undefined) return it.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  if (it.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return null;
  return `${it.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/$/, '')}/v1/traces`;
}

/** @throws ConfigError when only some of the variables that belong together are set */
function readJwt(it: Settings): Pick<Config, 'jwt' | 'oidc'> {
  const { settings, oidc, problems } = jwtSettings(it);
  if (problems.length > 0) throw new ConfigError(problems);
  return { jwt: settings, oidc };
}

function tlsFiles(it: Settings): Config['gatewayTls'] {
  const { HOODCLOUD_GATEWAY_TLS_KEY: key, HOODCLOUD_GATEWAY_TLS_CERT: certificate } = it;
  if (key === undefined && certificate === undefined) return null;
  if (key === undefined || certificate === undefined) {
    throw new ConfigError([
      'HOODCLOUD_GATEWAY_TLS_KEY and HOODCLOUD_GATEWAY_TLS_CERT belong together: set both to PEM files, or neither',
    ]);
  }
  return { key, certificate, clientAuthority: it.HOODCLOUD_GATEWAY_TLS_CLIENT_CA ?? null };
}

/** What the dev role may be told; the rest it decides itself. */
export interface DevConfig {
  readonly apiPort: number;
  /** host:port for agents; on loopback unless a setting says otherwise. */
  readonly gatewayListen: string;
  readonly temporalUiPort: number;
  readonly dataDir: string | null;
  /** A Temporal server that runs already; null: one is started. */
  readonly temporalAddress: string | null;
  readonly configDir: string | null;
}

const LOOPBACK = /^(127\.[\d.]+|localhost|\[::1\]):/;

/** @throws ConfigError naming every variable that is wrong */
export function readDevConfig(env: NodeJS.ProcessEnv): DevConfig {
  const parsed = DEV_SETTINGS.safeParse(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')));
  if (!parsed.success) throw new ConfigError(parsed.error.issues.map(problem));
  const it = parsed.data;
  const gatewayListen = it.HOODCLOUD_GATEWAY_LISTEN ?? `127.0.0.1:${it.HOODCLOUD_GATEWAY_PORT}`;
  if (!LOOPBACK.test(gatewayListen) && it.HOODCLOUD_GATEWAY_TLS_KEY === undefined) {
    throw new ConfigError([
      `HOODCLOUD_GATEWAY_LISTEN=${gatewayListen} can be reached by others, who would read the credentials of agents: ` +
        'set HOODCLOUD_GATEWAY_TLS_KEY and HOODCLOUD_GATEWAY_TLS_CERT too (docs/tutorials/first-rollout-systemd.md makes them by one openssl command)',
    ]);
  }
  return {
    apiPort: it.HOODCLOUD_API_PORT,
    gatewayListen,
    temporalUiPort: it.HOODCLOUD_TEMPORAL_UI_PORT,
    dataDir: it.HOODCLOUD_DATA_DIR ?? null,
    temporalAddress: it.TEMPORAL_ADDRESS ?? null,
    configDir: it.HOODCLOUD_CONFIG_DIR ?? null,
  };
}
