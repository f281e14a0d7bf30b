import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RolloutNodeView } from '@hoodcloud/contracts/http/rollout-views';
import { until } from '@hoodcloud/testkit/until';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeChain } from './stack/chain-folder.ts';
import { ROLES, type Role } from './stack/control-plane.ts';
import { Stack } from './stack/stack.ts';
import { OwnStores } from './stack/stores.ts';
import type { TinyHost } from './stack/tiny-host.ts';
import { tinyRelease } from './stack/tiny-release.ts';

const CHAIN = 'faulty';
let release = tinyRelease('v1');
let stores: OwnStores;
let stack: Stack;
let hosts: TinyHost[];

beforeAll(async () => {
  stores = await OwnStores.start();
  stack = await Stack.open(stores);
  writeChain(stack.plane.configDir, CHAIN, { known: [release], budgets: { stop_seconds: 600 } });
  hosts = await stack.fleet(CHAIN, 3, release);
}, 600_000);
afterAll(() => stack?.dispose());

/** What breaks in the middle of a batch, and what makes it whole after the host has done its part without it. */
interface Fault {
  readonly strike: () => Promise<unknown>;
  readonly recover: () => Promise<unknown>;
}

const killed = (...roles: Role[]): Fault => ({
  strike: () => stack.plane.killRoles(...roles),
  recover: () => stack.plane.startRoles(...roles),
});

const FAULTS: readonly [what: string, fault: () => Fault][] = [
  ['the worker is killed', () => killed('worker')],
  ['the gateway is killed', () => killed('gateway')],
  ['the api is killed', () => killed('api')],
  ['the reconciler is killed', () => killed('reconciler')],
  [
    'every connection to Postgres is cut',
    () => ({
      strike: async () => expect(await stores.cutConnections()).toBeGreaterThanOrEqual(ROLES.length),
      recover: async () => undefined,
    }),
  ],
  ['Postgres is killed', () => ({ strike: () => stores.postgres.kill(), recover: () => stores.postgres.start() })],
  ['all four roles are killed', () => killed(...ROLES)],
];

it.each(FAULTS)(
  '%s in the middle of a batch: it ends right, no node is commanded twice, nothing is lost',
  async (_, fault) => {
    const { strike, recover } = fault();
    const next = tinyRelease(`v${Number(release.version.slice(1)) + 1}`);
    const before = hosts.map(historyOf);
    for (const host of hosts) host.stopSlowly();
    const flags = ['--strategy', 'rolling', '--batch-size', '2', '--start'];
    const id = await stack.create(CHAIN, stack.offer(CHAIN, next), ...flags);
    const [first, second] = await untilBatchIsStopping(id);
    hostOf(first).stopAtLast();
    const done = await untilSucceeded(id, first);

    await strike();
    for (const host of hosts) host.stopAtLast();
    await until(
      'the second host to go on by itself',
      async () => hostOf(second).journal('starts').at(-1) === `${next.version} runs`,
    );
    await recover();

    await stack.untilStatus(id, 'completed');
    expect(hosts.map(historyOf)).toEqual(
      before.map(({ starts, stops, attempts }) => ({ starts: starts + 1, stops: stops + 1, attempts: attempts + 1 })),
    );
    const rows = await stack.nodesOf(id);
    const ended = rows.map((row) => [row.status, row.attempt_count, row.running_checksum]);
    expect(ended).toEqual(hosts.map(() => ['succeeded', 1, next.checksum]));
    expect(rows.find(({ node_id }) => node_id === first.node_id)?.ended_at).toBe(done.ended_at);
    expect(await upgradeCommandsOf(id)).toEqual(hosts.map(() => 'completed'));
    release = next;
  },
);

function hostOf(row: RolloutNodeView): TinyHost {
  const host = hosts.find(({ name }) => name === row.node_name);
  if (!host) throw new Error(`no host ${row.node_name}`);
  return host;
}

/** What the host itself remembers: the node's own journal, and the agent's records of attempts. */
function historyOf(host: TinyHost): { starts: number; stops: number; attempts: number } {
  const records = readdirSync(join(host.root, 'state', 'attempts')).filter((name) => /^[^.].*\.json$/.test(name));
  return { starts: host.journal('starts').length, stops: host.journal('stops').length, attempts: records.length };
}

/** Both nodes of the first batch have been told to stop and are closing their databases. */
async function untilBatchIsStopping(id: string): Promise<[RolloutNodeView, RolloutNodeView]> {
  return until('both nodes of the first batch to be stopping', async () => {
    const [first, second, ...others] = (await stack.nodesOf(id)).filter((row) => hostOf(row).isClosing());
    return first && second && others.length === 0 ? [first, second] : null;
  });
}

async function untilSucceeded(id: string, { node_id }: RolloutNodeView): Promise<RolloutNodeView> {
  return until('the first node to succeed', async () => {
    const row = (await stack.nodesOf(id)).find((one) => one.node_id === node_id);
    return row?.status === 'succeeded' ? row : null;
  });
}

/** Statuses of all UPGRADE commands that were ever written for a rollout. */
async function upgradeCommandsOf(id: string): Promise<string[]> {
  const commands = await stack.plane.db
    .selectFrom('agent_commands')
    .select('status')
    .where('rollout_id', '=', id)
    .where('operation', '=', 'UPGRADE')
    .execute();
  return commands.map(({ status }) => status);
}
