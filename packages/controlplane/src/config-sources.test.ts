import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readConfig } from './config.ts';
import { settingsFrom } from './config-sources.ts';
import { configSummary } from './config-summary.ts';

const folder = mkdtempSync(join(tmpdir(), 'hoodcloud-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const ENOUGH = 'DATABASE_URL: postgres://hood@db/hoodcloud\nHOODCLOUD_CONFIG_DIR: /chains\n';

it('takes settings from a file, over them those of the environment', () => {
  const path = file('a.yaml', `${ENOUGH}HOODCLOUD_HEARTBEAT_SECONDS: 2\nHOODCLOUD_LOG_LEVEL: warn\n`);
  const config = readConfig(settingsFrom({ HOODCLOUD_CONFIG: path, HOODCLOUD_LOG_LEVEL: 'debug' }));
  expect(config).toMatchObject({ configDir: '/chains', heartbeatIntervalMs: 2000, logLevel: 'debug' });
});

it('takes a list where the environment takes values by commas', () => {
  const path = file('list.yaml', `${ENOUGH}HOODCLOUD_NATS_URL: [nats://a:4222, nats://b:4222]\n`);
  expect(readConfig(settingsFrom({}, path)).nats?.servers).toEqual(['nats://a:4222', 'nats://b:4222']);
});

it('refuses a name that is none, with file and line', () => {
  const path = file('typo.yaml', `${ENOUGH}HOODCLOUD_API_LISTN: 0.0.0.0:80\n`);
  expect(() => settingsFrom({}, path)).toThrow(`${path}:3:1: unknown field "HOODCLOUD_API_LISTN"`);
});

it('refuses a value of another kind, with file and line', () => {
  const path = file('kind.yaml', 'HOODCLOUD_CONFIG_DIR: { a: b }\n');
  expect(() => settingsFrom({}, path)).toThrow(/kind\.yaml:1:\d+: .*must be a text, a number/);
});

it('says that a file is not there', () => {
  expect(() => settingsFrom({}, join(folder, 'none.yaml'))).toThrow(/configuration file: .*none\.yaml can't be read/);
});

it('reads secrets from files, without their last line end', () => {
  const password = file('password', 'p@ss/word:%\n');
  const path = file('secret.yaml', `${ENOUGH}HOODCLOUD_DATABASE_PASSWORD_FILE: ${password}\n`);
  const url = new URL(readConfig(settingsFrom({}, path)).databaseUrl);
  expect([url.username, decodeURIComponent(url.password)]).toEqual(['hood', 'p@ss/word:%']);
});

it('lets a secret of the environment win over the file’s, however each is given', () => {
  const ofFile = file('url', 'postgres://file/db');
  const path = file('both.yaml', `DATABASE_URL_FILE: ${ofFile}\n`);
  expect(settingsFrom({ DATABASE_URL: 'postgres://env/db' }, path).DATABASE_URL).toBe('postgres://env/db');
});

it('refuses a secret that one source gives both ways', () => {
  const env = { DATABASE_URL: 'postgres://a/b', DATABASE_URL_FILE: '/somewhere' };
  expect(() => settingsFrom(env)).toThrow('the environment gives both DATABASE_URL and DATABASE_URL_FILE');
});

it('shows which settings hold without their secrets, and what looks like one and is none', () => {
  const settings = { DATABASE_URL: 'postgres://hood:secret@db/x', HOODCLOUD_CONFIG_DIR: '/chains', HOODCLOUD_LGO: '1' };
  expect(configSummary(settings)).toEqual([
    'DATABASE_URL = (secret)',
    'HOODCLOUD_CONFIG_DIR = /chains',
    'HOODCLOUD_LGO is no setting of the control plane: is it spelt right?',
  ]);
});
