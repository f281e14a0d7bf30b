import type { EventPage, EventView } from '@hoodcloud/contracts/http/events';
import { createApiKey } from '@hoodcloud/controlplane/auth/api-keys';
import { until } from '@hoodcloud/testkit/until';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Fleet } from '../faults/fleet.ts';
import { judgeRollouts } from '../faults/judge-rollouts.ts';
import { OperatorApi } from '../faults/operator-api.ts';
import { ControlPlane, ROLES } from './stack/control-plane.ts';
import { bundlePrograms, type Programs } from './stack/programs.ts';
import { type Stores, sharedStores } from './stack/stores.ts';

const NODES = 6;
/** Long enough that agents are in the middle of it when what they speak to is killed. */
const UPGRADE_MS = 6_000;

let programs: Programs;
let stores: Stores;
let first: ControlPlane;
let second: ControlPlane;
let fleet: Fleet | undefined;

beforeAll(async () => {
  programs = await bundlePrograms();
  stores = await sharedStores();
  first = await ControlPlane.start({ programs, ...stores });
  second = await ControlPlane.start({ programs, ...stores, beside: first });
}, 300_000);
afterAll(async () => {
  fleet?.stop();
  await second?.dispose();
  await first?.dispose();
  await stores?.dispose();
  programs?.dispose();
});

/** Hears the events of an API as a page does, until it is stopped. */
async function listen({ url, key }: OperatorApi): Promise<{ readonly heard: EventView[]; stop(): void }> {
  const controller = new AbortController();
  const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' };
  const response = await fetch(`${url}/api/v1/events`, { headers, signal: controller.signal });
  const heard: EventView[] = [];
  const read = async () => {
    let text = '';
    for await (const chunk of response.body ?? []) {
      const blocks = (text + Buffer.from(chunk).toString('utf8')).split('\n\n');
      text = blocks.pop() ?? '';
      heard.push(
        ...blocks.flatMap((block) => (/^data: (.*)$/m.exec(block) ?? []).slice(1).map((it) => JSON.parse(it))),
      );
    }
  };
  read().catch((error: Error) => {
    if (error.name !== 'AbortError') throw error;
  });
  return { heard, stop: () => controller.abort() };
}

/** Agents that a gateway holds now, by its own count. */
async function connectedAt(plane: ControlPlane): Promise<number> {
  const told = await (await fetch(`http://${plane.metricsAddress('gateway')}/metrics`)).text();
  return Number(/^hoodcloud_gateway_connected_agents (\d+)$/m.exec(told)?.[1]);
}

it('with two of each role, one of each is killed in the middle of a batch: agents move over, loops are taken over, nothing is done twice and every event is heard', async () => {
  const { key } = await createApiKey(first.db, { name: 'two', createdBy: 'test' });
  const [one, other] = [new OperatorApi(first.url, key), new OperatorApi(second.url, key)];
  const gateways = [first.gateway, second.gateway];
  fleet = await Fleet.join(first, one, { chains: 1, nodes: NODES, upgradeMs: UPGRADE_MS, gateways });
  expect(await connectedAt(first)).toBe(NODES / 2);
  expect(await connectedAt(second)).toBe(NODES / 2);
  const page = await listen(other);

  // ordered at one API, seen at the other
  const ids = await fleet.startRollouts({ batchSize: 3 });
  await until('the other page to hear of it', async () => page.heard.some(({ kind }) => kind === 'rollout_started'));
  await until('agents of both gateways to be at work', async () => {
    const rows = await first.db
      .selectFrom('agent_commands')
      .select('id')
      .where('status', '=', 'acknowledged')
      .execute();
    return rows.length === 3;
  });
  await first.killRoles(...ROLES);
  await until('all agents at the gateway that is left', async () => (await connectedAt(second)) === NODES);
  await until('the rollout to end', async () => {
    const rows = await second.db.selectFrom('rollouts').select('status').where('id', 'in', ids).execute();
    return rows.every(({ status }) => status === 'completed');
  });

  expect(await judgeRollouts(second.db, fleet, ids)).toEqual({
    rollouts: 1,
    nodes: NODES,
    commands: NODES,
    upgrades: NODES,
  });
  const stored = await until('every event to have its number', async () => {
    const waiting = await second.db.selectFrom('events').select('id').where('published_seq', 'is', null).execute();
    return waiting.length === 0 && (await other.get<EventPage>('/events?limit=1000')).items;
  });
  await until('the page to have heard all', async () => page.heard.length >= stored.length);
  expect(page.heard.map(({ seq }) => seq)).toEqual(stored.map(({ seq }) => seq));
  page.stop();
}, 300_000);
