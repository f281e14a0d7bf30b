import { create } from '@bufbuild/protobuf';
import { ComponentReportSchema } from '@hoodcloud/contracts/wire/agent-v1';
import { openDatabase, openPool } from '@hoodcloud/controlplane/db/database';
import { migrate } from '@hoodcloud/controlplane/db/migrate';
import { componentReport } from '@hoodcloud/controlplane/gateway/testing/wire-agent';
import { ChainJudges } from '@hoodcloud/controlplane/health/chain-judges';
import { type ReceivedHeartbeat, storeHeartbeats } from '@hoodcloud/controlplane/health/heartbeat-ingest';
import { chainHealth } from '@hoodcloud/controlplane/health/testing/health-fixture';
import { insertFleet } from '@hoodcloud/testkit/fleet-simulator/insert-fleet';
import { startTestPostgres } from '@hoodcloud/testkit/postgres';
import { checksumOf } from '@hoodcloud/testkit/rows';
import { median, printFigures } from './figures.ts';

/**
 * How many heartbeats a second one gateway can judge and store, each with its node's row and its component's, beside the
 * same rows written by the three bare statements.
 * `npm run bench -- heartbeats [AGENTS] [ROUNDS]`: a heartbeat of each of 2500 agents, 21 times, unless said otherwise.
 */
const AGENTS = Number(process.argv[2] ?? 2_500);
const ROUNDS = Number(process.argv[3] ?? 21);
/** A heartbeat's own row, its node's and its component's. */
const ROWS_EACH = 3;
const SILENT = { info: () => undefined, warn: console.warn, error: console.error };

const postgres = await startTestPostgres();
const pool = openPool(postgres.server.url(), { max: 2, onIdleError: () => undefined });
const db = openDatabase(pool);
try {
  await migrate(db);
  await insertFleet(pool, {
    nodes: AGENTS,
    chainProfileId: 'testchain',
    nodeType: 'validator',
    binaryName: 'cometbft',
    version: 'v1.0.0',
    running: checksumOf('a'),
    namePrefix: 'beat',
  });
  const { rows: sessions } = await pool.query<{ id: string; node_id: string }>(
    `insert into agent_sessions (node_id, gateway_id, instance_nonce, boot_id, agent_version, hostname, os, arch)
     select id, 'bench', id::text, '', '0.1.0', '', 'linux', 'amd64' from nodes returning id, node_id`,
  );
  await pool.query('analyze');
  const judges = new ChainJudges(() => Promise.resolve(chainHealth()), SILENT);
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const beats = sessions.map(({ id, node_id }) => heartbeat(node_id, id, round));
    ours.push(await rateOf(async () => void (await storeHeartbeats(db, judges, beats))));
    bare.push(await rateOf(() => writeBare(sessions)));
  }
  const of = { unit: 'rows/s', better: 'higher', agents: AGENTS, runs: ROUNDS } as const;
  printFigures([
    {
      ...of,
      name: 'heartbeats_per_second',
      value: median(ours),
      unit: 'heartbeats/s',
      floor: Math.round(median(bare)),
    },
    {
      ...of,
      name: 'heartbeat_rows_per_second',
      value: median(ours) * ROWS_EACH,
      goal: 20_000,
      floor: Math.round(median(bare) * ROWS_EACH),
    },
  ]);
} finally {
  await pool.end();
  await postgres.dispose();
}

function heartbeat(nodeId: string, sessionId: string, round: number): ReceivedHeartbeat {
  const metrics = [
    { name: 'height', value: 100 + round },
    { name: 'catching_up', value: 0 },
  ];
  const report = componentReport({ metrics, runningChecksum: checksumOf('a'), installedChecksum: checksumOf('a') });
  return { nodeId, sessionId, clockSkewMs: 3, components: [create(ComponentReportSchema, report)] };
}

/** Heartbeats a second. */
async function rateOf(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return AGENTS / ((performance.now() - began) / 1000);
}

/** The rows that the product writes for a heartbeat, by statements that know all values already. */
async function writeBare(sessions: readonly { id: string; node_id: string }[]): Promise<void> {
  const [nodeIds, sessionIds] = [sessions.map(({ node_id }) => node_id), sessions.map(({ id }) => id)];
  await pool.query('begin');
  await pool.query(
    `insert into node_heartbeats (node_id, session_id, components, judged)
     select *, '[{"binary_name": "cometbft"}]'::jsonb, '{}'::jsonb from unnest($1::uuid[], $2::uuid[])`,
    [nodeIds, sessionIds],
  );
  await pool.query(
    'update node_components set restarts = restarts, updated_at = now() where node_id = any($1::uuid[])',
    [nodeIds],
  );
  await pool.query('update nodes set last_heartbeat_at = now(), updated_at = now() where id = any($1::uuid[])', [
    nodeIds,
  ]);
  await pool.query('commit');
}
