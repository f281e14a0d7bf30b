import { afterEach, beforeEach, expect, it } from 'vitest';
import { ArtifactServer, tooManyRequests } from './artifact-server.ts';

const CONTENT = Buffer.from('0123456789');
let server: ArtifactServer;
beforeEach(async () => {
  server = await ArtifactServer.listen();
});
afterEach(() => server.close());

const body = async (response: Response) => (await response.arrayBuffer()).byteLength;

it('serves a file, by range as well, and records the requests', async () => {
  const url = server.publish('app', CONTENT);
  expect(await (await fetch(url)).text()).toBe('0123456789');
  const rest = await fetch(url, { headers: { range: 'bytes=4-' } });
  expect([rest.status, rest.headers.get('content-range'), await rest.text()]).toEqual([206, 'bytes 4-9/10', '456789']);
  expect(server.requestsFor('app').map(({ range }) => range)).toEqual([undefined, 'bytes=4-']);
});

it('ignores ranges when told to, and refuses one past the end', async () => {
  const whole = await fetch(server.publish('app', CONTENT, { kind: 'serve' }), { headers: { range: 'bytes=4-' } });
  expect([whole.status, await body(whole)]).toEqual([200, 10]);
  expect((await fetch(server.publish('app', CONTENT), { headers: { range: 'bytes=10-' } })).status).toBe(416);
});

it('answers 404 for a file that was never offered', async () => {
  expect((await fetch(`${server.origin}/nothing`)).status).toBe(404);
});

it('goes through its behaviours in order and stays at the last', async () => {
  const url = server.publish('app', CONTENT, tooManyRequests(3), { kind: 'wrong_bytes' }, { kind: 'serve' });
  const first = await fetch(url);
  expect([first.status, first.headers.get('retry-after')]).toEqual([429, '3']);
  const second = await (await fetch(url)).text();
  expect([second.length, second === '0123456789']).toEqual([10, false]);
  expect([await (await fetch(url)).text(), await (await fetch(url)).text()]).toEqual(['0123456789', '0123456789']);
});

it('redirects once, or without end', async () => {
  const target = server.publish('target', CONTENT);
  expect(await body(await fetch(server.publish('app', '', { kind: 'redirect', to: target })))).toBe(10);
  await expect(fetch(server.publish('loop', '', { kind: 'redirect_loop' }))).rejects.toThrow();
});

it('breaks the connection after some bytes', async () => {
  const response = await fetch(server.publish('app', CONTENT, { kind: 'cut_short', afterBytes: 4 }));
  expect(response.headers.get('content-length')).toBe('10');
  await expect(response.text()).rejects.toThrow();
});

it('stalls with the connection open', async () => {
  const response = await fetch(server.publish('app', CONTENT, { kind: 'stall', afterBytes: 4 }));
  const reader = response.body?.getReader();
  expect((await reader?.read())?.value?.byteLength).toBe(4);
  const next = reader?.read().then(
    () => 'more',
    () => 'broken',
  );
  await server.close();
  expect(await next).toBe('broken');
});

it('trickles a file to its end', async () => {
  const url = server.publish('app', CONTENT, { kind: 'trickle', chunkBytes: 3, pauseMs: 1 });
  expect(await (await fetch(url)).text()).toBe('0123456789');
});
