import { RolloutLab } from '@hoodcloud/testkit/rollout-lab';
import { insertPolicy } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';

let lab: RolloutLab;
let healing: NodeJS.Timeout;
beforeAll(async () => {
  lab = await RolloutLab.open();
  // as the heartbeats of upgraded nodes do, which the lab does not send
  healing = setInterval(() => {
    lab.db
      .updateTable('nodes')
      .set({ state: 'healthy' })
      .where('state', '=', 'syncing')
      .execute()
      .catch(() => undefined);
  }, 200);
});
afterAll(async () => {
  clearInterval(healing);
  await lab.close();
});

it("two chains whose nodes share zones, a rollout on each at once: the zone's budget holds across both (field-case 101)", async () => {
  const scenes = [
    await lab.scene(4, { strategy: 'all_at_once' }),
    await lab.scene(4, { strategy: 'rolling', batch_size: 2 }),
  ];
  for (const { nodes } of scenes) {
    for (const [index, id] of nodes.entries()) {
      const labels = JSON.stringify({ zone: index % 2 === 0 ? 'north' : 'south' });
      await lab.db.updateTable('nodes').set({ labels }).where('id', '=', id).execute();
    }
  }
  await insertPolicy(lab.db, 'disruption_budget', 'zones', { scope: {}, per: 'zone', max_unavailable: 1 });
  await Promise.all(scenes.map(({ rolloutId }) => lab.start(rolloutId)));
  for (const { rolloutId } of scenes) {
    const { status, succeeded_nodes } = await lab.until(rolloutId, 'completed', 'failed', 'paused');
    expect([status, succeeded_nodes]).toEqual(['completed', 4]);
  }
  const { most, met } = mostInFlight(await history());
  expect(most).toEqual({ north: 1, south: 1 });
  console.log(`two rollouts in four nodes a zone: ${met} starts took the last place of their zone`);
});

interface Happening {
  readonly kind: string;
  readonly zone: 'north' | 'south';
}

/** When attempts began and ended in each zone, over all rollouts, as the events tell. */
async function history(): Promise<Happening[]> {
  const rows = await lab.db
    .selectFrom('events as e')
    .innerJoin('nodes as n', 'n.id', 'e.node_id')
    .select(['e.kind', 'n.labels'])
    .where('e.kind', 'in', ['node_upgrade_started', 'node_upgrade_completed'])
    .orderBy('e.id')
    .execute();
  return rows.map(({ kind, labels }) => ({ kind, zone: (labels as { zone: Happening['zone'] }).zone }));
}

function mostInFlight(happenings: readonly Happening[]) {
  const now = { north: 0, south: 0 };
  const most = { north: 0, south: 0 };
  let met = 0;
  for (const { kind, zone } of happenings) {
    now[zone] += kind === 'node_upgrade_started' ? 1 : -1;
    if (kind === 'node_upgrade_started' && now[zone] === 1) met += 1;
    most[zone] = Math.max(most[zone], now[zone]);
  }
  return { most, met };
}
