import { resolve } from 'node:path';
import { createApiKey } from '@hoodcloud/controlplane/auth/api-keys';
import { eventRelay } from '@hoodcloud/controlplane/events/event-relay';
import { ApiFixture, TEST_PROFILE } from '@hoodcloud/controlplane/http/testing/api-fixture';
import { ReconcilerRunner } from '@hoodcloud/controlplane/reconciler-runner';
import { GroupLab, type GroupScene } from '@hoodcloud/testkit/group-lab';
import { RolloutLab, type ScriptedAnswer } from '@hoodcloud/testkit/rollout-lab';
import { insertNode, insertRollout } from '@hoodcloud/testkit/rows';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { DESKTOP, openBrowser, type SignedIn, signIn } from './browser.ts';

/** Whole rollouts, steered by a browser alone: real API, engine, worker and database; only the agents are scripted. */

const DASHBOARD = resolve(import.meta.dirname, '../../dist/dashboard');
const SOON = 60_000;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

let lab: RolloutLab;
let api: ApiFixture;
let relay: ReconcilerRunner;
let browser: Browser;
let tab: SignedIn;
let url: string;
beforeAll(async () => {
  lab = await RolloutLab.open();
  api = await ApiFixture.create({ database: lab.database, dashboardFolder: DASHBOARD });
  url = await api.app.listen({ port: 0, host: '127.0.0.1' });
  relay = new ReconcilerRunner({ databaseUrl: lab.database.url, log, reconcilers: [eventRelay(lab.db)] });
  await relay.start();
  browser = await openBrowser();
  tab = await signIn(browser, { url, key: api.key }, { scheme: 'light', size: DESKTOP });
});
afterAll(async () => {
  await browser?.close();
  await relay?.stop();
  await api?.dispose();
  await lab?.close();
});

/** What one test left in the console isn't the next one's complaint. */
beforeEach(() => {
  tab.complaints.length = 0;
});

/** A pending rollout over nodes with the given names; their agents answer what `answers` holds, and are silent until then. */
async function scene(chain: string, names: readonly string[], options: Parameters<typeof insertRollout>[1]) {
  await api.writeConfig(`${chain}/profile.yaml`, TEST_PROFILE.replace('testchain', chain));
  const answers = new Map<string, ScriptedAnswer>();
  const nameOf = new Map<string, string>();
  for (const name of names) nameOf.set(await insertNode(lab.db, { name, chain_profile_id: chain }), name);
  lab.script.agent = ({ nodeId, operation }) => {
    if (operation !== 'UPGRADE') return { outcome: operation === 'CONFIRM' ? 'completed' : 'rolled_back' };
    return answers.get(nameOf.get(nodeId) ?? '') ?? 'silent';
  };
  const rolloutId = await insertRollout(lab.db, { chain_profile_id: chain, ...options });
  await tab.page.goto(`${url}/rollouts/${rolloutId}`);
  return { rolloutId, answer: (name: string, answer: ScriptedAnswer) => answers.set(name, answer) };
}

const DONE: ScriptedAnswer = { outcome: 'completed' };
const UNDONE: ScriptedAnswer = { outcome: 'rolled_back', error: 'noded ended with exit status 2' };

/** Presses a control, says why and confirms. */
async function order(page: Page, button: string, why: string): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).click({ timeout: SOON });
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill(why);
  await dialog.getByRole('button', { name: button.split(' live-')[0] ?? button, exact: true }).click();
  await dialog.waitFor({ state: 'detached', timeout: SOON });
}

/** Names of the nodes in the two batches, which are drawn when the rollout starts. */
async function batchesOf(rolloutId: string): Promise<[string[], string[]]> {
  const rows = await lab.db
    .selectFrom('rollout_nodes as rn')
    .innerJoin('nodes as n', 'n.id', 'rn.node_id')
    .select(['n.name', 'rn.batch_index'])
    .where('rn.rollout_id', '=', rolloutId)
    .execute();
  const of = (batch: number) => rows.filter((row) => row.batch_index === batch).map(({ name }) => name);
  return [of(0), of(1)];
}

/** Waits until the page says it, without a reload. */
const says = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor({ timeout: SOON });
/** What changes its status by itself is another thing than what one looked at: an order upon that would be refused. */
const stands = (page: Page, status: string) =>
  page
    .locator('.status')
    .filter({ hasText: new RegExp(`^${status}$`) })
    .first()
    .waitFor({ timeout: SOON });
const rowSays = (page: Page, node: string, text: string) =>
  page.locator('.rows-row').filter({ hasText: node }).getByText(text).first().waitFor({ timeout: SOON });

it('a rollout is started, paused, resumed, mended and taken back', async () => {
  const { page, complaints } = tab;
  const names = ['live-a', 'live-b', 'live-c', 'live-d'];
  const { rolloutId, answer } = await scene('live-one', names, { batch_size: 2, failure_threshold: 0.2 });
  await order(page, 'Start', 'the fork is tomorrow');
  await says(page, '2 in progress');
  const [[first = '', second = ''], [third = '', fourth = '']] = await batchesOf(rolloutId);
  await rowSays(page, first, 'in progress');
  await rowSays(page, third, 'pending');
  await order(page, 'Pause', 'lunch');
  await says(page, 'Pausing: 2 nodes in flight will end first.');
  answer(first, DONE);
  answer(second, DONE);
  await stands(page, 'paused');
  await says(page, 'Paused by key:test: lunch');
  await rowSays(page, second, 'succeeded');
  await order(page, 'Resume', 'back again');
  await rowSays(page, third, 'in progress');
  answer(third, UNDONE);
  answer(fourth, DONE);
  await rowSays(page, third, 'rolled back');
  await says(page, /1 of 4 nodes failed, more than the threshold/);
  await stands(page, 'paused');
  answer(third, DONE);
  await order(page, `Retry ${third}`, 'its disk is mended');
  await rowSays(page, third, 'succeeded');
  await order(page, 'Resume', 'the one that failed is mended');
  await says(page, '4 of 4 succeeded, 0 failed');
  await stands(page, 'completed');
  await order(page, 'Roll back', 'the new version loses peers');
  await says(page, 'Back on the previous version: 4 nodes.');
  expect((await lab.rollout(rolloutId)).status).toBe('rolled_back');
  const controls = await lab.db
    .selectFrom('rollout_controls')
    .select(['kind', 'reason'])
    .where('rollout_id', '=', rolloutId)
    .orderBy('seq')
    .execute();
  expect(controls.map(({ kind, reason }) => `${kind}: ${reason}`)).toEqual([
    'start: the fork is tomorrow',
    'pause: lunch',
    'resume: back again',
    'retry: its disk is mended',
    'resume: the one that failed is mended',
    'rollback: the new version loses peers',
  ]);
  expect(complaints).toEqual([]);
});

it('canaries of a breaking migration are approved, a node is left out, the threshold is ignored, the rest is canceled', async () => {
  const { page, complaints } = tab;
  const names = ['live-k', 'live-l', 'live-m', 'live-n'];
  const { rolloutId, answer } = await scene('live-two', names, {
    strategy: 'canary',
    canary_size: 1,
    batch_size: 1,
    migration_type: 'breaking',
  });
  for (const name of names) answer(name, DONE);
  await order(page, 'Start', 'the chain breaks its state');
  await says(page, 'Breaking migration: an operator must approve the canary batch.');
  const [, [skipped = '']] = await batchesOf(rolloutId);
  await order(page, `Skip ${skipped}`, 'its host is being replaced');
  await rowSays(page, skipped, 'Left out by key:test: its host is being replaced');
  for (const name of names) answer(name, 'silent');
  await order(page, 'Approve canaries', 'an hour without a complaint');
  await says(page, /1 in progress/);
  await order(page, 'Force', 'the fork is at dawn');
  await says(page, 'The threshold is ignored: the rollout goes on whatever fails.');
  await order(page, 'Cancel rollout', 'the fork was called off');
  for (const name of names) answer(name, DONE);
  await says(page, 'Canceled by key:test: the fork was called off');
  await lab.until(rolloutId, 'canceled');
  expect(complaints).toEqual([]);
});

/** A pending group of two components on one node, its page open; agents answer what `answers` holds by component. */
async function groupScene(): Promise<{ groups: GroupLab; scene: GroupScene; answers: Map<string, ScriptedAnswer> }> {
  const groups = new GroupLab(lab);
  const scene = await groups.scene(1);
  await api.writeConfig(`${scene.chain}/profile.yaml`, TEST_PROFILE.replace('testchain', scene.chain));
  const answers = new Map<string, ScriptedAnswer>();
  lab.script.agent = ({ payload }) => answers.get(payload.binaryName) ?? 'silent';
  await tab.page.goto(`${url}/groups/${scene.groupId}`);
  return { groups, scene, answers };
}

it('a group is started, paused, resumed and taken back', async () => {
  const { page, complaints } = tab;
  const { groups, scene, answers } = await groupScene();
  await order(page, 'Start', 'both clients before the fork');
  await says(page, /execution is being upgraded, component 1 of 2/);
  await order(page, 'Pause', 'lunch');
  answers.set('execution', DONE);
  await stands(page, 'paused');
  await says(page, 'Paused by key:test: lunch');
  await order(page, 'Resume', 'back again');
  await says(page, /the next component waits until its nodes are healthy/);
  for (const node of scene.nodes) await groups.heartbeat(node);
  await says(page, /companion is being upgraded, component 2 of 2/);
  await order(page, 'Roll back', 'the companion loses its peer');
  answers.set('companion', DONE);
  await says(page, /Every component is back on its previous version/);
  await groups.until(scene.groupId, 'rolled_back');
  expect(complaints).toEqual([]);
});

it('the component that a group stands at is left out, and the group is canceled', async () => {
  const { page, complaints } = tab;
  const { groups, scene, answers } = await groupScene();
  answers.set('execution', DONE);
  await order(page, 'Start', 'both clients before the fork');
  await says(page, /the next component waits until its nodes are healthy/);
  await order(page, 'Skip component', 'its metrics are broken, the node signs');
  await says(page, /companion is being upgraded, component 2 of 2/);
  await order(page, 'Cancel group', 'the fork was called off');
  answers.set('companion', DONE);
  await says(page, 'Canceled by key:test: the fork was called off');
  await groups.until(scene.groupId, 'canceled');
  expect(complaints).toEqual([]);
});

it('a freeze that holds a rollout is set aside by two people, each in a browser of their own, and the rollout goes on', async () => {
  const { page, complaints } = tab;
  const { rolloutId, answer } = await scene('live-frozen', ['live-f'], { batch_size: 1 });
  answer('live-f', DONE);
  const spec = { scope: { chains: ['live-frozen'] }, from: '2026-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z' };
  await api.call('PUT', '/policies/freeze/payout', { spec: { ...spec, reason: 'payout week' } });
  await order(page, 'Start', 'the CVE is public');
  await says(page, 'Frozen until 2099-01-01T00:00:00.000Z (freeze/payout): payout week');
  const aside = page.getByRole('button', { name: 'Set aside freeze/payout' });
  expect(await aside.isDisabled()).toBe(true); // without the scope it is no order of one's own
  for (const name of ['ann', 'bob']) {
    const key = await createApiKey(lab.db, { name, createdBy: `user:${name}`, scopes: ['override'] });
    const other = await signIn(browser, { url, key: key.key }, { scheme: 'light', size: DESKTOP });
    await other.page.goto(`${url}/rollouts/${rolloutId}`);
    await other.page.getByRole('button', { name: 'Set aside freeze/payout' }).click({ timeout: SOON });
    const dialog = other.page.getByRole('dialog');
    await says(other.page, name === 'ann' ? /A second person must agree too/ : /1 node may start/);
    await dialog.getByRole('textbox').fill(`${name} knows the fix`);
    await dialog.getByRole('button', { name: 'Set aside', exact: true }).click();
    await dialog.waitFor({ state: 'detached', timeout: SOON });
    if (name === 'ann') {
      await says(other.page, 'You have agreed; somebody else must, too.');
      await says(page, /1 of 2 people agreed \(key:ann\)/);
    }
    await other.close();
  }
  await stands(page, 'completed');
  await says(page, /bob knows the fix/);
  expect((await lab.rollout(rolloutId)).status).toBe('completed');
  expect(complaints).toEqual([]);
});
