import type { Database } from '@hoodcloud/controlplane/db/database';
import { keepFigures } from '../proofs/keep-figures.ts';
import { type FaultStand, untilPublished, withFaultStand } from './fault-stand.ts';
import { judgeRollouts } from './judge-rollouts.ts';
import { natsOutage, Strikes } from './strikes.ts';

const SIZES = { chains: 10, nodes: 5, upgradeMs: 20_000 };
const OUTAGE = { ms: 150_000, events: 100 };

const countEvents = async (db: Database) => {
  const { count } = await db
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
};

/** Ten rollouts on ten chains at once, while everything that they need is killed and comes back. @throws when a rule is broken */
async function run({ plane, stores, nats, fleet, receivers }: FaultStand): Promise<void> {
  const began = Date.now();
  const ids = await fleet.startRollouts();
  const strikes = new Strikes(plane, stores);
  const open = async () => plane.db.selectFrom('rollouts').select('id').where('status', '<>', 'completed').execute();
  const [outage] = await Promise.all([
    natsOutage(nats.server, OUTAGE, () => countEvents(plane.db)),
    strikes.goOnUntil(async () => {
      const left = (await open()).length;
      console.log(`${left} rollouts run, ${await countEvents(plane.db)} events`);
      return left === 0;
    }),
  ]);
  const seconds = Math.round((Date.now() - began) / 1000);
  const judged = await judgeRollouts(plane.db, fleet, ids);
  await untilPublished(plane.db);
  await receivers.untilComplete(plane.db);
  const events = await receivers.compare(plane.db);
  const figures = { seconds, ...judged, struck: strikes.struck, outage, events };
  keepFigures('faults', figures);
  console.log(JSON.stringify(figures, null, 2));
}

await withFaultStand(SIZES, run);
