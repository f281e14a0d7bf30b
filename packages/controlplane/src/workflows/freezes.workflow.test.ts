import { wakeRollout } from '@hoodcloud/controlplane/engine/engine-outbox';
import { RolloutLab, type Scene } from '@hoodcloud/testkit/rollout-lab';
import { insertPolicy } from '@hoodcloud/testkit/rows';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { json } from '../db/json.ts';

const HOUR = 3_600_000;
const inMs = (ms: number) => new Date(Date.now() + ms);

let lab: RolloutLab;
beforeAll(async () => {
  lab = await RolloutLab.open();
});
afterAll(() => lab.close());
beforeEach(() => {
  lab.script = {};
});

/** Frozen since an hour ago. */
const specOf = (chain: string, to: Date) => ({
  scope: { chains: [chain] },
  from: inMs(-HOUR).toISOString(),
  to: to.toISOString(),
  reason: 'the payout is made',
});

/** Freezes the chain of a rollout since an hour ago; a name is given once. */
async function freezeChain({ rolloutId }: Scene, name: string, to: Date): Promise<string> {
  const { chain_profile_id } = await lab.rollout(rolloutId);
  await insertPolicy(lab.db, 'freeze', name, specOf(chain_profile_id, to));
  return chain_profile_id;
}

function setAside(rolloutId: string, rule: string, actor: string) {
  return lab.db
    .insertInto('rule_overrides')
    .values({
      rollout_id: rolloutId,
      rule,
      actor,
      reason: 'a hole is known',
      created_at: inMs(-HOUR),
      expires_at: inMs(HOUR),
    })
    .execute();
}

/** Waits until the rollout says that these nodes are held by the freeze, and answers what it decided. */
function untilFrozen({ rolloutId }: Scene, count: number) {
  return lab.waitFor(`${count} frozen nodes`, async () => {
    const decision = (await lab.rollout(rolloutId)).last_decision as Decision | null;
    const frozen = decision?.reasons.find(({ code }) => code === 'frozen');
    return frozen?.nodeIds.length === count ? decision : null;
  });
}
interface Decision {
  readonly until: string | null;
  readonly reasons: readonly { readonly code: string; readonly nodeIds: readonly string[] }[];
}

const statuses = async ({ rolloutId }: Scene) => (await lab.rows(rolloutId)).map(({ status }) => status).sort();
const wake = ({ rolloutId }: Scene) => lab.db.transaction().execute((tx) => wakeRollout(tx, rolloutId));

it('a freeze in the middle: what runs ends, the others wait, and the rollout goes on by itself when it is over', async () => {
  const scene = await lab.scene(4, { strategy: 'rolling', batch_size: 2 });
  lab.script.agent = () => 'silent';
  await lab.start(scene.rolloutId);
  await lab.waitFor('two commands', async () => lab.commandsOf(scene.rolloutId, 'UPGRADE').length === 2);
  const chain = await freezeChain(scene, 'middle', inMs(HOUR));
  lab.script = {};
  await untilFrozen(scene, 2);
  expect(await statuses(scene)).toEqual(['pending', 'pending', 'succeeded', 'succeeded']);

  // It is made to end soon; nobody wakes the rollout when it is over.
  const end = inMs(4_000);
  await lab.db
    .updateTable('policies')
    .set({ spec: json(specOf(chain, end)) })
    .where('name', '=', 'middle')
    .execute();
  await wake(scene);
  await lab.until(scene.rolloutId, 'completed');
  const late = (await lab.rows(scene.rolloutId)).filter(({ batch_index }) => batch_index === 1);
  expect(late.map(({ started_at }) => Number(started_at) >= end.getTime())).toEqual([true, true]);
});

it('a freeze is crossed by two people; when a word of theirs expires, the rollout waits again', async () => {
  const scene = await lab.scene(2, { strategy: 'rolling', batch_size: 1 });
  await freezeChain(scene, 'crossed', inMs(HOUR));
  lab.script.agent = () => 'silent';
  await setAside(scene.rolloutId, 'freeze/crossed', 'key:ann');
  await setAside(scene.rolloutId, 'freeze/crossed', 'key:ann');
  await lab.start(scene.rolloutId);
  await untilFrozen(scene, 1);
  expect(lab.commandsOf(scene.rolloutId, 'UPGRADE')).toEqual([]);

  await setAside(scene.rolloutId, 'freeze/crossed', 'key:bob');
  await wake(scene);
  await lab.waitFor('the first command', async () => lab.commandsOf(scene.rolloutId, 'UPGRADE').length === 1);
  await lab.db.updateTable('rule_overrides').set({ expires_at: new Date() }).where('actor', '=', 'key:bob').execute();
  lab.script = {};
  await untilFrozen(scene, 1);
  expect(await statuses(scene)).toEqual(['pending', 'succeeded']);
});
