import { hostname } from 'node:os';
import { type MinisignKey, minisignKey } from '@hoodcloud/contracts/signature/minisign';
import { z } from 'zod';
import type { JwtSettings } from './auth/jwt.ts';
import { JWT_VARIABLES, jwtSettings } from './auth/jwt-settings.ts';

/** A setting is missing or wrong; the message names the variable and says what it takes. */
export class ConfigError extends Error {
  readonly code = 'config';
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
  }
}

const port = z.coerce.number({ error: 'must be a port number' }).int().min(0).max(65_535);
const listen = z.string().regex(/^.+:\d+$/, 'must be host:port, such as 0.0.0.0:8080');
const httpUrl = z.string().regex(/^https?:\/\/[^/]/, 'must be an http:// or https:// URL');
const optionalFile = z.string().min(1).optional();

const schema = z.object({
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, 'must begin with postgres://'),
  TEMPORAL_ADDRESS: listen.default('127.0.0.1:7233'),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  HOODCLOUD_TASK_QUEUE: z.string().min(1).default('hoodcloud'),
  HOODCLOUD_CONFIG_DIR: z.string().min(1),
  HOODCLOUD_API_LISTEN: listen.default('0.0.0.0:8080'),
  HOODCLOUD_GATEWAY_LISTEN: listen.default('0.0.0.0:9090'),
  HOODCLOUD_METRICS_LISTEN: listen.default('0.0.0.0:9091'),
  HOODCLOUD_GATEWAY_TLS_KEY: optionalFile,
  HOODCLOUD_GATEWAY_TLS_CERT: optionalFile,
  HOODCLOUD_GATEWAY_TLS_CLIENT_CA: optionalFile,
  HOODCLOUD_PAYLOAD_KEYS: z
    .string()
    .transform((text) => text.split(',').map((key) => Buffer.from(key.trim(), 'base64')))
    .refine(
      (keys) => keys.every((key) => key.length === 32),
      'must be 32 bytes in base64 each, e.g. openssl rand -base64 32',
    )
    .default([]),
  HOODCLOUD_API_REQUESTS_PER_MINUTE: z.coerce.number().int().min(1).default(6000),
  ...JWT_VARIABLES,
  HOODCLOUD_MAINTENANCE_CLEANUP_MINUTES: z.coerce.number().positive().default(30),
  HOODCLOUD_HEARTBEAT_SECONDS: z.coerce.number().min(1).max(10).default(5),
  HOODCLOUD_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info'),
  HOODCLOUD_DATABASE_CONNECTIONS: z.coerce.number().int().min(2).default(20),
  HOODCLOUD_WORKER_BUILD_ID: z.string().max(100).optional(),
  HOODCLOUD_CACHE_DIR: optionalFile,
  HOODCLOUD_NATS_URL: z
    .string()
    .transform((text) => text.split(',').map((url) => url.trim()))
    .refine(
      (urls) => urls.every((url) => /^(nats|tls):\/\/[^/]+$/.test(url)),
      'must be nats:// or tls:// URLs by commas',
    )
    .optional(),
  HOODCLOUD_NATS_STREAM: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be a stream name')
    .default('HOODCLOUD_EVENTS'),
  HOODCLOUD_NATS_CREDENTIALS: optionalFile,
  HOODCLOUD_NATS_CA: optionalFile,
  HOODCLOUD_NOTIFICATIONS_FILE: optionalFile,
  HOODCLOUD_MANIFEST_KEYS: z
    .string()
    .transform((text) => text.split(',').map((key) => minisignKey(key)))
    .refine((keys) => keys.every((key) => key !== null), 'must be minisign public keys (RW…) by commas')
    .default([]),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl.optional(),
});

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
  readonly maintenanceCleanupMs: number;
  /** How often agents report; a third of what makes a node count as offline, at most. */
  readonly heartbeatIntervalMs: number;
  readonly logLevel: string;
  /** Where bundled workflow code is kept between starts of a worker; null: it is bundled at each start. */
  readonly cacheDir: string | null;
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
 * Reads the environment.
 * @throws ConfigError naming every variable that is missing or wrong
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (!parsed.success) throw new ConfigError(parsed.error.issues.map(problem));
  const it = parsed.data;
  return {
    databaseUrl: it.DATABASE_URL,
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
    jwt: readJwt(it),
    maintenanceCleanupMs: it.HOODCLOUD_MAINTENANCE_CLEANUP_MINUTES * 60_000,
    heartbeatIntervalMs: it.HOODCLOUD_HEARTBEAT_SECONDS * 1000,
    logLevel: it.HOODCLOUD_LOG_LEVEL,
    cacheDir: it.HOODCLOUD_CACHE_DIR ?? null,
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

function natsSettings(it: z.infer<typeof schema>): NatsSettings | null {
  if (it.HOODCLOUD_NATS_URL === undefined) return null;
  return {
    servers: it.HOODCLOUD_NATS_URL,
    stream: it.HOODCLOUD_NATS_STREAM,
    credentialsFile: it.HOODCLOUD_NATS_CREDENTIALS ?? null,
    authorityFile: it.HOODCLOUD_NATS_CA ?? null,
  };
}

/** As the OpenTelemetry specification has it: the endpoint of all signals gets a path, that of traces is taken as it is. */
function tracesUrl(it: z.infer<typeof schema>): string | null {
  if (it.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT !== undefined) return it.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  if (it.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return null;
  return `${it.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/$/, '')}/v1/traces`;
}

/** @throws ConfigError when only some of the variables that belong together are set */
function readJwt(it: z.infer<typeof schema>): Config['jwt'] {
  const { settings, problems } = jwtSettings(it);
  if (problems.length > 0) throw new ConfigError(problems);
  return settings;
}

function tlsFiles(it: z.infer<typeof schema>): Config['gatewayTls'] {
  const { HOODCLOUD_GATEWAY_TLS_KEY: key, HOODCLOUD_GATEWAY_TLS_CERT: certificate } = it;
  if (key === undefined && certificate === undefined) return null;
  if (key === undefined || certificate === undefined) {
    throw new ConfigError([
      'HOODCLOUD_GATEWAY_TLS_KEY and HOODCLOUD_GATEWAY_TLS_CERT belong together: set both to PEM files, or neither',
    ]);
  }
  return { key, certificate, clientAuthority: it.HOODCLOUD_GATEWAY_TLS_CLIENT_CA ?? null };
}

const devSchema = z.object({
  HOODCLOUD_API_PORT: port.default(8080),
  HOODCLOUD_GATEWAY_PORT: port.default(9090),
  HOODCLOUD_TEMPORAL_UI_PORT: port.default(8233),
  HOODCLOUD_DATA_DIR: z.string().min(1).optional(),
  TEMPORAL_ADDRESS: listen.optional(),
  HOODCLOUD_CONFIG_DIR: z.string().min(1).optional(),
});

/** What the dev role may be told; the rest it decides itself. */
export interface DevConfig {
  readonly apiPort: number;
  readonly gatewayPort: number;
  readonly temporalUiPort: number;
  readonly dataDir: string | null;
  /** A Temporal server that runs already; null: one is started. */
  readonly temporalAddress: string | null;
  readonly configDir: string | null;
}

/** @throws ConfigError naming every variable that is wrong */
export function readDevConfig(env: NodeJS.ProcessEnv): DevConfig {
  const parsed = devSchema.safeParse(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')));
  if (!parsed.success) throw new ConfigError(parsed.error.issues.map(problem));
  const it = parsed.data;
  return {
    apiPort: it.HOODCLOUD_API_PORT,
    gatewayPort: it.HOODCLOUD_GATEWAY_PORT,
    temporalUiPort: it.HOODCLOUD_TEMPORAL_UI_PORT,
    dataDir: it.HOODCLOUD_DATA_DIR ?? null,
    temporalAddress: it.TEMPORAL_ADDRESS ?? null,
    configDir: it.HOODCLOUD_CONFIG_DIR ?? null,
  };
}
