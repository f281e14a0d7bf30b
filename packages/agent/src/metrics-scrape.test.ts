import { once } from 'node:events';
import { createServer, type OutgoingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { parseSamples, scrapeMetrics } from './metrics-scrape.ts';

const PAGE = `# HELP cometbft_consensus_height Height of the chain.
# TYPE cometbft_consensus_height gauge
cometbft_consensus_height{chain_id="a b, \\"c\\""} 1.234e+06
cometbft_consensus_height_other 5
cometbft_p2p_peers{chain_id="x"} 3
cometbft_p2p_peers{chain_id="y"} 4
# TYPE rpc_seconds histogram
rpc_seconds_bucket{le="+Inf"} 7
rpc_seconds_count 7
broken_metric NaN
endless_metric +Inf
`;

let server: Server | null = null;
afterEach(() => {
  server?.close();
  server = null;
});

async function serve(status: number, page: string | Buffer, headers: OutgoingHttpHeaders = {}): Promise<string> {
  server = createServer((_, response) => response.writeHead(status, headers).end(page));
  return listening(server);
}

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;
}

it('keeps the metrics that were asked for, with their labels', () => {
  expect(parseSamples(PAGE, ['cometbft_consensus_height', 'cometbft_p2p_peers'])).toEqual([
    { name: 'cometbft_consensus_height', labels: { chain_id: 'a b, "c"' }, value: 1_234_000 },
    { name: 'cometbft_p2p_peers', labels: { chain_id: 'x' }, value: 3 },
    { name: 'cometbft_p2p_peers', labels: { chain_id: 'y' }, value: 4 },
  ]);
});

it('knows the parts of a histogram by their own names', () => {
  expect(parseSamples(PAGE, ['rpc_seconds_count'])).toEqual([{ name: 'rpc_seconds_count', labels: {}, value: 7 }]);
});

it('leaves out what is no number: an absent metric is never true (D4b)', () => {
  expect(parseSamples(PAGE, ['broken_metric', 'endless_metric', 'no_such_metric'])).toEqual([
    { name: 'endless_metric', labels: {}, value: Number.POSITIVE_INFINITY },
  ]);
});

it('reads the endpoint of a node', async () => {
  const url = await serve(200, PAGE);
  expect(await scrapeMetrics(url, ['rpc_seconds_count'])).toMatchObject({ samples: [{ value: 7 }], error: '' });
});

it('says why nothing was read', async () => {
  const url = await serve(503, 'starting');
  expect(await scrapeMetrics(url, ['x'])).toEqual({ samples: [], error: `${url} answered 503` });
  const gone = await scrapeMetrics('http://127.0.0.1:1/metrics', ['x']);
  expect(gone.error).toMatch(/can't be read/);
});

it('follows no redirect: what answers elsewhere is not the node of this host', async () => {
  const url = await serve(302, '', { location: '/elsewhere' });
  expect((await scrapeMetrics(url, ['x'])).error).toBe(`${url} answered 302`);
});

it('reads no more of a page than 8 MiB', async () => {
  const url = await serve(200, Buffer.alloc(9 * 1024 * 1024, 'x 1\n'));
  expect((await scrapeMetrics(url, ['x'])).error).toBe(`${url} answered more than 8388608 bytes`);
});

it('gives up on an endpoint that answers and then says nothing more', async () => {
  server = createServer((_, response) => response.writeHead(200).write('x 1\n'));
  const url = await listening(server);
  expect((await scrapeMetrics(url, ['x'], 200)).error).toMatch(/can't be read: .*timeout/);
  server.closeAllConnections();
});
