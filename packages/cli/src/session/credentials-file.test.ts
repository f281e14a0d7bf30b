import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resolveConnection } from './connection.ts';
import { credentialsPath, readCredentials, writeCredentials } from './credentials-file.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'hoodctl-'));
});
afterAll(() => rm(home, { recursive: true }));

it('keeps URL and key in a file that only its owner may read', async () => {
  const path = credentialsPath({ XDG_CONFIG_HOME: home });
  await writeCredentials(path, { url: 'http://one.test', apiKey: 'secret' });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readCredentials(path)).toEqual({ url: 'http://one.test', apiKey: 'secret' });
});

it('lets flags win over the environment, and the environment over the file', async () => {
  const env = { XDG_CONFIG_HOME: home, HOODCLOUD_URL: 'http://two.test/' };
  expect(await resolveConnection({}, env)).toEqual({ url: 'http://two.test', apiKey: 'secret' });
  expect(await resolveConnection({ url: 'http://three.test', apiKey: 'other' }, env)).toEqual({
    url: 'http://three.test',
    apiKey: 'other',
  });
});

it('refuses a file that others may read', async () => {
  const path = credentialsPath({ XDG_CONFIG_HOME: home });
  await chmod(path, 0o644);
  await expect(readCredentials(path)).rejects.toThrow('others may read it');
});

it('says what to do when nobody has logged in', async () => {
  await expect(resolveConnection({}, { XDG_CONFIG_HOME: join(home, 'none') })).rejects.toMatchObject({
    exitCode: 2,
    next: 'hoodctl login --url http://HOST:8080',
  });
});
