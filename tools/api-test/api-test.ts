/** `npm run test:api [-- SECONDS]`: Schemathesis against the served API, with an admin's key and with less. See docs/testing.md. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startTestPostgres } from '@hoodcloud/testkit/postgres';
import { type ApiWorld, createApiWorld } from './api-world.ts';
import { RequestTally } from './request-tally.ts';

const DEFAULT_SECONDS = 150;
const RESTORE_MS = 300;
const SEED = '20';
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

interface Caller {
  readonly name: keyof ApiWorld['keys'];
  readonly seconds: number;
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

async function schemathesis(program: string, world: ApiWorld, url: string, caller: Caller): Promise<boolean> {
  const key = world.keys[caller.name];
  const args = [
    ...['--config-file', here('schemathesis.toml'), 'run', `${url}/openapi.json`, '--url', url],
    ...['--checks', [...caller.checks, ...OURS].join(',')],
    ...['--phases', 'examples,coverage,fuzzing', '--max-time', String(caller.seconds), '--seed', SEED],
    ...['--workers', '2', '--continue-on-failure', '--no-shrink', '--request-timeout', '30', '--warnings', 'off'],
    ...['--suppress-health-check', 'all', '--generation-database', 'none', '--no-color'],
    ...(key === '' ? [] : ['--header', `Authorization: Bearer ${key}`]),
  ];
  const env = {
    ...process.env,
    SCHEMATHESIS_HOOKS: here('hooks.py'),
    HOODCLOUD_API_WORLD: JSON.stringify({ pools: world.pools, secrets: world.secrets }),
    HOODCLOUD_API_CALLER: caller.name,
  };
  console.log(`\n── ${caller.name === 'none' ? 'without a key' : `with a key of scope ${caller.name}`}`);
  const child = spawn(program, args, { env, cwd: here('.'), stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  return code === 0;
}

async function main([program = '', seconds = String(DEFAULT_SECONDS)]: string[]): Promise<number> {
  const postgres = await startTestPostgres();
  process.env.HOODCLOUD_TEST_DATABASE_URL = postgres.server.url();
  const world = await createApiWorld();
  const restoring = setInterval(() => void world.restore().catch((error) => console.error(error)), RESTORE_MS);
  try {
    const { paths } = JSON.parse((await world.api.app.inject({ url: '/openapi.json' })).body);
    const tally = new RequestTally(paths);
    world.api.app.server.on('request', (request, response) =>
      response.on('finish', () => tally.count(request.method ?? '', request.url ?? '', response.statusCode)),
    );
    const url = await world.api.app.listen({ host: '127.0.0.1', port: 0 });
    const clean = [await schemathesis(program, world, url, { name: 'admin', seconds: Number(seconds), checks: EVERY })];
    const complaints = [...tally.complaints()];
    console.log(`\n${tally.table()}`);
    const share = Math.max(10, Math.round(Number(seconds) / 5));
    for (const name of ['none', 'read', 'operate'] as const) {
      const checks = ['not_a_server_error', 'status_code_conformance', 'content_type_conformance'];
      clean.push(await schemathesis(program, world, url, { name, seconds: share, checks }));
    }
    complaints.push(...tally.failures());
    for (const complaint of complaints) console.log(`✗ ${complaint}`);
    const good = complaints.length === 0 && clean.every(Boolean);
    console.log(`\n${tally.requests} requests, ${good ? 'no complaint' : 'complaints above'}`);
    return good ? 0 : 1;
  } finally {
    clearInterval(restoring);
    await world.api.dispose();
    await postgres.dispose();
  }
}

process.exitCode = await main(process.argv.slice(2));
