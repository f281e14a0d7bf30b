import { afterEach, beforeEach, expect, it } from 'vitest';
import { setDegradation } from './degradations.ts';
import { type StatusServer, startStatusServer } from './status-server.ts';

let server: StatusServer;
let ready: () => Promise<void>;
beforeEach(async () => {
  ready = async () => undefined;
  server = await startStatusServer('127.0.0.1:0', () => ready());
});
afterEach(async () => {
  setDegradation('NATS', null);
  await server.close();
});

async function readiness(): Promise<[number, string]> {
  const response = await fetch(`http://${server.address}/readyz`);
  return [response.status, await response.text()];
}

it('is ready while something it can do without is away, and says what', async () => {
  expect(await readiness()).toEqual([200, 'ready\n']);
  setDegradation('NATS', '37 events wait');
  expect(await readiness()).toEqual([200, 'ready\ndegraded: NATS: 37 events wait\n']);
  setDegradation('NATS', null);
  expect(await readiness()).toEqual([200, 'ready\n']);
});

it('is not ready without what it can not do without', async () => {
  ready = async () => {
    throw new Error('the database is away');
  };
  expect(await readiness()).toEqual([503, 'the database is away\n']);
});
