import { readFile } from 'node:fs/promises';
import { createApiKey } from '@hoodcloud/controlplane/auth/api-keys';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import type { CometbftBinary } from '@hoodcloud/testkit/chains/cometbft-binaries';
import { startTestPostgres } from '@hoodcloud/testkit/postgres';
import { startTestTemporal } from '@hoodcloud/testkit/temporal';
import { until } from '@hoodcloud/testkit/until';
import { CHAIN } from '../e2e/cometbft-chain-files.ts';
import { type LiveFleet, startLiveFleet } from '../e2e/live-fleet.ts';
import { OperatorApi } from '../faults/operator-api.ts';
import { Ansible } from './ansible/ansible.ts';
import { type Figure, median, printFigures } from './figures.ts';

/**
 * The whole time of an upgrade of ten validators on ten systemd hosts, one after the other, beside Ansible with the same
 * steps over ssh on the same hosts: with no time to prove health, and with ten seconds for each on both sides.
 * `npm run bench -- ansible [ROUNDS] [ROUNDS_WITH_10_S]`: 5 and 1 unless said otherwise. Needs sshd and Python 3.
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const SLOW_ROUNDS = Number(process.argv[3] ?? 1);
const HOSTS = Array.from({ length: 10 }, (_, index) => `host-${index}`);

interface Times {
  readonly oursS: number;
  readonly ansibleS: number;
}

const postgres = await startTestPostgres();
const temporal = await startTestTemporal();
process.env.HOODCLOUD_TEST_DATABASE_URL = postgres.server.url();
process.env.HOODCLOUD_TEST_TEMPORAL_ADDRESS = temporal.address;
try {
  const fleet = await startLiveFleet(HOSTS, { health: { health_wait_seconds: 0, stable_seconds: 0 } });
  try {
    printFigures(await compare(fleet));
  } finally {
    await fleet.dispose();
  }
} finally {
  await temporal.dispose();
  await postgres.dispose();
}

async function compare(fleet: LiveFleet): Promise<Figure[]> {
  const { key } = await createApiKey(fleet.plane.db, { name: 'bench', createdBy: 'test' });
  const api = new OperatorApi(fleet.plane.url, key);
  const ansible = await Ansible.reach(fleet.nodes);
  const artifacts = await ArtifactServer.listen(fleet.plane.gateway.replace(/:\d+$/, ''));
  try {
    const urlOf = async ({ release, path }: CometbftBinary) => artifacts.publish(release, await readFile(path));
    const urls = { old: await urlOf(fleet.old), next: await urlOf(fleet.next) };
    const round = async (stableS: number): Promise<Times> => {
      const oursS = await seconds(() => rollOut(fleet, api, stableS));
      // the other way by Ansible: the next round begins where this one did
      const ansibleS = await seconds(() => ansible.upgrade({ url: urls.old, sha256: fleet.old.sha256, stableS }));
      await untilAllRun(fleet, fleet.old.release);
      console.log(`${stableS} s each: ours ${oursS.toFixed(1)} s, Ansible ${ansibleS.toFixed(1)} s`);
      return { oursS, ansibleS };
    };
    const at = async (rounds: number, stableS: number) => {
      const times: Times[] = [];
      for (let one = 0; one < rounds; one += 1) times.push(await round(stableS));
      return times;
    };
    const figures = [figure('ten_hosts_ratio_to_ansible', await at(ROUNDS, 0), 0.2)];
    if (SLOW_ROUNDS > 0) {
      figures.push(figure('ten_hosts_10s_stable_ratio_to_ansible', await at(SLOW_ROUNDS, 10), 0.85));
    }
    return figures;
  } finally {
    await artifacts.close();
    await ansible.dispose();
  }
}

async function rollOut({ plane, next }: LiveFleet, api: OperatorApi, stableS: number): Promise<void> {
  const wanted = { chain_profile_id: CHAIN, node_type: 'validator', upgrade_id: next.release, strategy: 'rolling' };
  const { id } = await api.post<{ id: string }>('/rollouts', { ...wanted, health_wait_ms: stableS * 1000 });
  await api.post(`/rollouts/${id}/start`, {});
  await until('the rollout to end', async () => {
    const row = await plane.db.selectFrom('rollouts').select('status').where('id', '=', id).executeTakeFirstOrThrow();
    if (['failed', 'canceled', 'paused'].includes(row.status)) throw new Error(`the rollout is ${row.status}`);
    return row.status === 'completed';
  });
}

/** What Ansible did is known to the control plane once agents have reported it. */
async function untilAllRun({ plane, nodes }: LiveFleet, version: string): Promise<void> {
  await until(`every node to be known by ${version}, healthy`, async () => {
    const rows = await plane.db
      .selectFrom('node_config_state as s')
      .innerJoin('nodes as n', 'n.id', 's.node_id')
      .select(['s.binary_version', 'n.state'])
      .execute();
    return (
      rows.length === nodes.length && rows.every((row) => row.binary_version === version && row.state === 'healthy')
    );
  });
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

function figure(name: string, times: readonly Times[], goal: number): Figure {
  const value = median(times.map(({ oursS, ansibleS }) => oursS / ansibleS));
  const ansibleS = median(times.map((one) => one.ansibleS));
  const oursS = median(times.map((one) => one.oursS));
  const rival = `Ansible ${ansibleS.toFixed(1)} s, ours ${oursS.toFixed(1)} s`;
  return { name, value, unit: '×', goal, better: 'lower', runs: times.length, rival };
}
