import { expect, it } from 'vitest';
import { ConfigError, readConfig, readDevConfig } from './config.ts';

const ENOUGH = { DATABASE_URL: 'postgres://db/hoodcloud', HOODCLOUD_CONFIG_DIR: '/etc/hoodcloud/chains' };

it('needs no more than a database and a config folder', () => {
  expect(readConfig(ENOUGH)).toMatchObject({
    databaseUrl: 'postgres://db/hoodcloud',
    configDir: '/etc/hoodcloud/chains',
    engine: { address: '127.0.0.1:7233', namespace: 'default', taskQueue: 'hoodcloud' },
    gatewayTls: null,
    heartbeatIntervalMs: 5_000,
  });
});

it('names every variable that is missing, with what it is for', () => {
  const read = () => readConfig({ DATABASE_URL: '' });
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(/DATABASE_URL is not set \(the Postgres/);
  expect(read).toThrow(/HOODCLOUD_CONFIG_DIR is not set/);
});

it.each([
  ['DATABASE_URL', 'mysql://db', /must begin with postgres:\/\//],
  ['HOODCLOUD_API_LISTEN', '8080', /must be host:port/],
  ['HOODCLOUD_LOG_LEVEL', 'loud', /HOODCLOUD_LOG_LEVEL is wrong/],
  ['HOODCLOUD_PAYLOAD_KEYS', 'c2hvcnQ=', /must be 32 bytes in base64/],
  ['HOODCLOUD_NATS_URL', 'localhost:4222', /HOODCLOUD_NATS_URL is wrong: it must be nats:/],
  ['HOODCLOUD_NATS_STREAM', 'a b', /HOODCLOUD_NATS_STREAM is wrong: it must be a stream name/],
  ['HOODCLOUD_MANIFEST_KEYS', 'RWnonsense', /HOODCLOUD_MANIFEST_KEYS is wrong: it must be minisign public keys/],
  ['HOODCLOUD_HEARTBEAT_SECONDS', '30', /HOODCLOUD_HEARTBEAT_SECONDS is wrong/],
  ['HOODCLOUD_MAINTENANCE_CLEANUP_MINUTES', '-1', /HOODCLOUD_MAINTENANCE_CLEANUP_MINUTES is wrong/],
])('refuses %s=%s by name', (name, value, message) => {
  expect(() => readConfig({ ...ENOUGH, [name]: value })).toThrow(message);
});

it('refuses a TLS key without its certificate', () => {
  expect(() => readConfig({ ...ENOUGH, HOODCLOUD_GATEWAY_TLS_KEY: '/key.pem' })).toThrow(/belong together/);
});

it('refuses a port that is none, by name', () => {
  expect(() => readDevConfig({ HOODCLOUD_API_PORT: '99999' })).toThrow(/HOODCLOUD_API_PORT/);
  expect(readDevConfig({}).apiPort).toBe(8080);
});

it('lets agents of other hosts in by TLS only, in development too', () => {
  expect(readDevConfig({ HOODCLOUD_GATEWAY_PORT: '9191' }).gatewayListen).toBe('127.0.0.1:9191');
  const outside = { HOODCLOUD_GATEWAY_LISTEN: '0.0.0.0:9090' };
  expect(() => readDevConfig(outside)).toThrow(/HOODCLOUD_GATEWAY_TLS_KEY/);
  expect(readDevConfig({ ...outside, HOODCLOUD_GATEWAY_TLS_KEY: 'key.pem' }).gatewayListen).toBe('0.0.0.0:9090');
});
