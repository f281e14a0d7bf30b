import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Reconciler } from '../feature.ts';
import { ChainJudges } from './chain-judges.ts';
import { heartbeatEvaluator } from './heartbeat-evaluator.ts';
import { chainHealth, HealthFixture } from './testing/health-fixture.ts';

let fixture: HealthFixture;
let evaluator: Reconciler;
beforeAll(async () => {
  fixture = await HealthFixture.create();
});
beforeEach(async () => {
  const { services } = fixture;
  evaluator = heartbeatEvaluator(services, new ChainJudges(() => Promise.resolve(chainHealth()), services.log));
  // Nodes of earlier tests are given up, which the evaluator leaves alone.
  await fixture.db
    .updateTable('nodes')
    .set({ state: 'terminating', maintenance_owner: null, prior_state: null })
    .execute();
  await fixture.db.deleteFrom('chain_heights').execute();
});
afterAll(() => fixture.dispose());

interface Seen {
  readonly at: number;
  readonly application_health?: 'ok' | 'degraded' | 'critical' | 'unknown';
  readonly sync_status?: 'synced' | 'syncing' | 'stalled' | 'unknown';
  readonly height?: number;
  readonly mainPid?: number;
}

/** What a stored heartbeat leaves in the node's rows. */
async function heard(nodeId: string, { at, mainPid = 100, ...judged }: Seen): Promise<void> {
  const seen = {
    application_health: 'ok',
    sync_status: 'synced',
    ...judged,
    last_heartbeat_at: fixture.at(at),
  } as const;
  await fixture.db.updateTable('nodes').set(seen).where('id', '=', nodeId).execute();
  const component = { main_pid: mainPid || null, active: mainPid > 0 };
  await fixture.db.updateTable('node_components').set(component).where('node_id', '=', nodeId).execute();
}

async function stateOf(nodeId: string): Promise<string> {
  return (await fixture.nodeRow(nodeId)).state;
}

async function changesOf(nodeId: string) {
  return fixture.db
    .selectFrom('events')
    .select(['reason', 'data'])
    .where('node_id', '=', nodeId)
    .orderBy('id')
    .execute();
}

describe('silence', () => {
  it('makes a node down after 30 s without a heartbeat, by the server clock, with the reason as event', async () => {
    const { nodeId } = await fixture.node();
    await heard(nodeId, { at: 0 });
    await evaluator.run(fixture.at(29));
    expect(await stateOf(nodeId)).toBe('healthy');
    await evaluator.run(fixture.at(31));
    expect(await stateOf(nodeId)).toBe('down');
    expect(await changesOf(nodeId)).toMatchObject([{ reason: 'agent_offline', data: { from: 'healthy', to: 'down' } }]);
  });

  it('ends the session that is silent, so that nothing is sent into it (field-case 120)', async () => {
    const { nodeId, sessionId } = await fixture.node();
    await heard(nodeId, { at: 0 });
    await evaluator.run(fixture.at(31));
    const session = await fixture.db
      .selectFrom('agent_sessions')
      .selectAll()
      .where('id', '=', sessionId)
      .executeTakeFirst();
    expect(session).toMatchObject({ end_reason: 'heartbeat_timeout' });
  });

  it('is not told by a host clock that is hours off (field-case 119)', async () => {
    const { nodeId } = await fixture.node({ clock_skew_ms: -7_200_000 });
    await heard(nodeId, { at: 0 });
    await evaluator.run(fixture.at(10));
    expect(await stateOf(nodeId)).toBe('healthy');
  });

  it('says nothing of a node that never joined', async () => {
    const { nodeId } = await fixture.node({ state: 'provisioning', joined_at: null });
    await evaluator.run(fixture.at(1000));
    expect(await stateOf(nodeId)).toBe('provisioning');
  });

  it('is over with the next heartbeat', async () => {
    const { nodeId } = await fixture.node({ state: 'down' });
    await heard(nodeId, { at: 0 });
    await evaluator.run(fixture.at(1));
    expect(await stateOf(nodeId)).toBe('healthy');
  });
});

describe('trouble must show in consecutive heartbeats (D4)', () => {
  it.each([
    ['degraded', { application_health: 'degraded' } as const],
    ['degraded', { sync_status: 'stalled' } as const],
    ['down', { mainPid: 0 } as const],
    ['syncing', { sync_status: 'syncing' } as const],
    ['syncing', { application_health: 'unknown' } as const],
  ])('then the node is %s', async (state, seen) => {
    const { nodeId } = await fixture.node();
    await heard(nodeId, { at: 0, ...seen });
    await evaluator.run(fixture.at(1));
    await evaluator.run(fixture.at(2));
    expect(await stateOf(nodeId)).toBe('healthy');
    await heard(nodeId, { at: 5, ...seen });
    await evaluator.run(fixture.at(6));
    expect(await stateOf(nodeId)).toBe(state);
  });

  it('one bad heartbeat between good ones changes nothing', async () => {
    const { nodeId } = await fixture.node();
    for (const at of [0, 5, 10, 15]) {
      await heard(nodeId, { at, application_health: at % 10 === 0 ? 'critical' : 'ok' });
      await evaluator.run(fixture.at(at + 1));
    }
    expect(await changesOf(nodeId)).toEqual([]);
  });
});

it('leaves nodes in maintenance alone, silent or sick (spec "Maintenance State Exemption")', async () => {
  const owner = { state: 'maintenance', prior_state: 'healthy', maintenance_owner: crypto.randomUUID() } as const;
  const { nodeId } = await fixture.node(owner);
  for (const at of [0, 5, 10]) {
    await heard(nodeId, { at, application_health: 'critical', mainPid: 0 });
    await evaluator.run(fixture.at(at + 1));
  }
  await evaluator.run(fixture.at(1000));
  expect(await stateOf(nodeId)).toBe('maintenance');
  expect(await changesOf(nodeId)).toEqual([]);
});

describe('the best height of a chain', () => {
  async function best(): Promise<number | undefined> {
    const row = await fixture.db.selectFrom('chain_heights').select('best_height').executeTakeFirst();
    return row?.best_height;
  }

  it('is counted from anew when the whole fleet has been below it for a while: the chain began anew', async () => {
    const { nodeId } = await fixture.node();
    await fixture.chainHeight(5000, 0);
    await heard(nodeId, { at: 50, height: 7 });
    await evaluator.run(fixture.at(55));
    expect(await best()).toBe(5000);
    await heard(nodeId, { at: 60, height: 8 });
    await evaluator.run(fixture.at(61));
    expect(await best()).toBe(8);
  });

  it('stays while one node is at it, so that a halt is a halt', async () => {
    const [one, two] = [await fixture.node(), await fixture.node()];
    await fixture.chainHeight(5000, 0);
    await heard(one.nodeId, { at: 100, height: 5000 });
    await heard(two.nodeId, { at: 100, height: 7 });
    await evaluator.run(fixture.at(101));
    expect(await best()).toBe(5000);
    const { rows } = await sql<{ grew: Date }>`select grew_at as grew from chain_heights`.execute(fixture.db);
    expect(rows[0]?.grew).toEqual(fixture.at(0));
  });
});
