import { DEFAULT_RUNBOOKS } from '@hoodcloud/contracts/http/incidents';
import { minisignKey } from '@hoodcloud/contracts/signature/minisign';
import { z } from 'zod';
import { JWT_VARIABLES } from './auth/jwt-settings.ts';

const port = z.coerce.number({ error: 'must be a port number' }).int().min(0).max(65_535);
const listen = z.string().regex(/^.+:\d+$/, 'must be host:port, such as 0.0.0.0:8080');
const httpUrl = z.string().regex(/^https?:\/\/[^/]/, 'must be an http:// or https:// URL');
const text = z.string().min(1);

const payloadKeys = z
  .string()
  .transform((keys) => keys.split(',').map((key) => Buffer.from(key.trim(), 'base64')))
  .refine(
    (keys) => keys.every((key) => key.length === 32),
    'must be 32 bytes in base64 each, e.g. openssl rand -base64 32',
  );
const natsUrls = z
  .string()
  .transform((urls) => urls.split(',').map((url) => url.trim()))
  .refine(
    (urls) => urls.every((url) => /^(nats|tls):\/\/[^/]+$/.test(url)),
    'must be nats:// or tls:// URLs by commas',
  );
const manifestKeys = z
  .string()
  .transform((keys) => keys.split(',').map((key) => minisignKey(key)))
  .refine((keys) => keys.every((key) => key !== null), 'must be minisign public keys (RW…) by commas');

/** Every setting of the roles, with what `docs/reference/configuration.md` says of it. */
export const SETTINGS = z.object({
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://')
    .describe('the control plane’s Postgres, `postgres://user:secret@host:5432/name`'),
  HOODCLOUD_DATABASE_PASSWORD: text.optional().describe('the password for `DATABASE_URL`, when that has none'),
  HOODCLOUD_DATABASE_CONNECTIONS: z.coerce.number().int().min(2).default(20).describe('connections of one role'),
  TEMPORAL_ADDRESS: listen.default('127.0.0.1:7233').describe('host:port of the Temporal frontend'),
  TEMPORAL_NAMESPACE: text
    .default('default')
    .describe('its namespace, which has the [search attributes](../operations/README.md#temporal)'),
  HOODCLOUD_TASK_QUEUE: text.default('hoodcloud').describe('where workers and relay meet'),
  HOODCLOUD_CONFIG_DIR: text.describe('folder with chain profiles, templates and `upgrades/`; see `examples/chains`'),
  HOODCLOUD_API_LISTEN: listen.default('0.0.0.0:8080').describe('host:port of the API'),
  HOODCLOUD_GATEWAY_LISTEN: listen.default('0.0.0.0:9090').describe('host:port for the agents'),
  HOODCLOUD_METRICS_LISTEN: listen
    .default('0.0.0.0:9091')
    .describe('host:port for health and metrics of every role but `api`, which has them on its own port'),
  HOODCLOUD_GATEWAY_TLS_KEY: text
    .optional()
    .describe(
      'PEM file, looked at every ten seconds; without key and certificate the gateway speaks plain text, for development only',
    ),
  HOODCLOUD_GATEWAY_TLS_CERT: text.optional().describe('PEM file of the certificate that belongs to the key'),
  HOODCLOUD_GATEWAY_TLS_CLIENT_CA: text
    .optional()
    .describe('PEM file; agents must then show a certificate that it signed'),
  HOODCLOUD_PAYLOAD_KEYS: payloadKeys
    .default([])
    .describe(
      '32 bytes in base64 (`openssl rand -base64 32`), several by commas: the first seals what agents are sent, rendered configs included, all open it; worker and gateway need the same. Without one it is stored as it is',
    ),
  HOODCLOUD_API_REQUESTS_PER_MINUTE: z.coerce
    .number()
    .int()
    .min(1)
    .default(6000)
    .describe('what one key or user may ask of one API process; beyond it is 429 with `Retry-After`'),
  ...JWT_VARIABLES,
  HOODCLOUD_MAINTENANCE_CLEANUP_MINUTES: z.coerce
    .number()
    .positive()
    .default(30)
    .describe('how often nodes are looked for that were left in maintenance though their attempt is over'),
  HOODCLOUD_HEARTBEAT_SECONDS: z.coerce
    .number()
    .min(1)
    .max(10)
    .default(5)
    .describe('how often agents report, 1 to 10; a node without a report for 30 s is offline'),
  HOODCLOUD_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error'])
    .default('info')
    .describe('`trace`, `debug`, `info`, `warn` or `error`'),
  HOODCLOUD_WORKER_BUILD_ID: z
    .string()
    .max(100)
    .optional()
    .describe(
      'names this release of the worker in Temporal, see [releases of the worker](../operations/README.md#releases-of-the-worker); without it workers are unversioned',
    ),
  HOODCLOUD_CACHE_DIR: text
    .optional()
    .describe('folder where a worker that runs from source keeps its workflow bundle; a production build has its own'),
  HOODCLOUD_DASHBOARD_DIR: text
    .optional()
    .describe(
      'folder of the built [dashboard](../guides/dashboard.md) that `api` serves; left out: the one beside the program, or `dist/dashboard` of the source tree',
    ),
  HOODCLOUD_RUNBOOKS: text
    .default(DEFAULT_RUNBOOKS)
    .describe(
      'where incidents say their [runbook](../runbooks/README.md) is: a URL or a path, to which the category’s page is added',
    ),
  HOODCLOUD_NATS_URL: natsUrls
    .optional()
    .describe(
      'NATS with JetStream, where events are published; several servers by commas ([guide](../guides/events-and-notifications.md))',
    ),
  HOODCLOUD_NATS_STREAM: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be a stream name')
    .default('HOODCLOUD_EVENTS')
    .describe('the stream'),
  HOODCLOUD_NATS_CREDENTIALS: text.optional().describe('file with the credentials of the user of NATS'),
  HOODCLOUD_NATS_CA: text.optional().describe('PEM file of the authority of the NATS servers'),
  HOODCLOUD_NOTIFICATIONS_FILE: text
    .optional()
    .describe('YAML file of the channels that people and programs are told by; the reconciler alone needs it'),
  HOODCLOUD_MANIFEST_KEYS: manifestKeys
    .default([])
    .describe(
      'minisign public keys by commas: then an upgrade manifest counts only with a signature of one of them beside it ([guide](../guides/write-a-manifest.md#signed-manifests))',
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl
    .optional()
    .describe(
      'an OTLP receiver, such as `http://collector:4318`: the reconciler sends it a trace of each node upgrade, see [traces](../operations/README.md#traces)',
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl
    .optional()
    .describe('the same for traces alone; its path is taken as it is'),
});

/** Each may be given by a file as well: `NAME_FILE` names it, and its last line end does not count. */
export const SECRETS = [
  'DATABASE_URL',
  'HOODCLOUD_DATABASE_PASSWORD',
  'HOODCLOUD_PAYLOAD_KEYS',
  'HOODCLOUD_NATS_URL',
] as const;

/** What the dev role may be told; the rest it decides itself. */
export const DEV_SETTINGS = z.object({
  HOODCLOUD_API_PORT: port.default(8080).describe('of the API, on loopback'),
  HOODCLOUD_GATEWAY_PORT: port.default(9090).describe('for agents, on loopback'),
  HOODCLOUD_GATEWAY_LISTEN: listen
    .optional()
    .describe(
      'host:port for agents of other hosts; needs key and certificate ([tutorial](../guides/first-rollout.md))',
    ),
  HOODCLOUD_GATEWAY_TLS_KEY: text.optional().describe('as above; and `HOODCLOUD_GATEWAY_TLS_CERT` with it'),
  HOODCLOUD_TEMPORAL_UI_PORT: port.default(8233).describe('Temporal’s pages'),
  HOODCLOUD_DATA_DIR: text
    .optional()
    .describe(
      'where everything is kept; left out: `/var/lib/hoodcloud-dev` as root, else below the user’s data folder',
    ),
  TEMPORAL_ADDRESS: listen.optional().describe('a Temporal server that runs already, instead of one that is started'),
  HOODCLOUD_CONFIG_DIR: text
    .optional()
    .describe('chain profiles, templates and `upgrades/`; left out: `chains` in the data folder'),
});
