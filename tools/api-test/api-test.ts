/** `npm run test:api [-- --all]`: Schemathesis against the served API, with an admin's key and with less. See docs/testing.md. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startTestPostgres } from '@hoodcloud/testkit/postgres';
import { type ApiWorld, createApiWorld } from './api-world.ts';
import { RequestTally } from './request-tally.ts';

const SEED = '20';
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

interface Caller {
  readonly name: keyof ApiWorld['keys'];
  /** Made-up requests of an operation. */
  readonly madeUp: number;
  /** Whether every limit of every field is tried too: thousands of requests. */
  readonly everyField: boolean;
  /** Checks of Schemathesis's own; ours run always. */
  readonly checks: readonly string[];
}

const OURS = ['refuses_what_is_not_granted', 'tells_no_secret'];
const EVERY = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'positive_data_acceptance',
  'unsupported_method',
  'allow_header_conformance',
  'ignored_auth',
];

/** Where the API is, and where the tester asks for used-up states to be brought back. */
interface Addresses {
  readonly url: string;
  readonly restore: string;
  /** For what it writes. */
  readonly folder: string;
}

async function schemathesis(program: string, world: ApiWorld, at: Addresses, caller: Caller): Promise<boolean> {
  const key = world.keys[caller.name];
  const { url } = at;
  const args = [
    ...['--config-file', here('schemathesis.toml'), 'run', `${url}/openapi.json`, '--url', url],
    ...['--checks', [...caller.checks, ...OURS].join(',')],
    ...['--phases', `examples,${caller.everyField ? 'coverage,' : ''}fuzzing`],
    ...['--max-examples', String(caller.madeUp), '--seed', SEED],
    ...['--workers', '1', '--continue-on-failure', '--no-shrink', '--request-timeout', '30', '--warnings', 'off'],
    ...['--suppress-health-check', 'all', '--generation-database', 'none', '--no-color'],
    ...(key === '' ? [] : ['--header', `Authorization: Bearer ${key}`, '--header', `X-API-Key: ${key}`]),
  ];
  const env = {
    ...process.env,
    SCHEMATHESIS_HOOKS: here('hooks.py'),
    HOODCLOUD_API_WORLD: JSON.stringify({ pools: world.pools, secrets: world.secrets }),
    HOODCLOUD_API_CALLER: caller.name,
    HOODCLOUD_API_RESTORE: at.restore,
  };
  console.log(`\n── ${caller.name === 'none' ? 'without a key' : `with a key of scope ${caller.name}`}`);
  const child = spawn(program, args, { env, cwd: at.folder, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  return code === 0;
}

/** Each request brings back what requests before it used up. */
async function restoreServer(world: ApiWorld) {
  const server = createServer((_, response) => {
    world.restore().then(
      () => response.end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, url: `http://127.0.0.1:${port}` };
}

async function main([program = '', ...words]: string[]): Promise<number> {
  const postgres = await startTestPostgres();
  process.env.HOODCLOUD_TEST_DATABASE_URL = postgres.server.url();
  const world = await createApiWorld();
  const restoring = await restoreServer(world);
  const folder = await mkdtemp(join(tmpdir(), 'hoodcloud-api-test-'));
  try {
    const { paths } = JSON.parse((await world.api.app.inject({ url: '/openapi.json' })).body);
    const tally = new RequestTally(paths);
    world.api.app.server.on('request', (request, response) =>
      response.on('finish', () => tally.count(request.method ?? '', request.url ?? '', response.statusCode)),
    );
    const at = { url: await world.api.app.listen({ host: '127.0.0.1', port: 0 }), restore: restoring.url, folder };
    const checks = ['not_a_server_error', 'status_code_conformance', 'content_type_conformance'];
    const lesser = { madeUp: 5, everyField: false, checks };
    const everyField = words.includes('--all');
    const clean: boolean[] = [];
    for (const caller of [
      { name: 'override', ...lesser },
      { name: 'admin', madeUp: 12, everyField, checks: EVERY },
      ...(['none', 'read', 'operate'] as const).map((name) => ({ name, ...lesser })),
    ] as const) {
      clean.push(await schemathesis(program, world, at, caller));
    }
    console.log(`\n${tally.table()}`);
    const complaints = [...tally.complaints(), ...tally.failures()];
    for (const complaint of complaints) console.log(`✗ ${complaint}`);
    const good = complaints.length === 0 && clean.every(Boolean);
    console.log(`\n${tally.requests} requests, ${good ? 'no complaint' : 'complaints above'}`);
    return good ? 0 : 1;
  } finally {
    restoring.server.close();
    await rm(folder, { recursive: true });
    await world.api.dispose();
    await postgres.dispose();
  }
}

process.exitCode = await main(process.argv.slice(2));
