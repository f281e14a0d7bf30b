import { createApiKey } from '@hoodcloud/controlplane/auth/api-keys';
import { publishEvents } from '@hoodcloud/controlplane/events/event-relay';
import { ApiFixture } from '@hoodcloud/controlplane/http/testing/api-fixture';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { accessibilityViolations, DASHBOARD, DESKTOP, openBrowser, type SignedIn, signIn } from './browser.ts';
import { EXAMPLE_FILES, type ExampleFleet, insertExampleFleet } from './example-fleet.ts';
import { TcpProxy } from './tcp-proxy.ts';

let api: ApiFixture;
let proxy: TcpProxy;
let url: string;
let browser: Browser;
let fleet: ExampleFleet;
let anna: string;
let onlooker: string;
beforeAll(async () => {
  api = await ApiFixture.create({ dashboardFolder: DASHBOARD });
  const { db } = api.database;
  fleet = await insertExampleFleet(db);
  for (const [file, text] of Object.entries(EXAMPLE_FILES)) await api.writeConfig(file, text);
  anna = (await createApiKey(db, { name: 'anna', createdBy: 'system:test', scopes: ['operate'] })).key;
  onlooker = (await createApiKey(db, { name: 'looks', createdBy: 'system:test', scopes: ['read'] })).key;
  const address = await api.app.listen({ port: 0, host: '127.0.0.1' });
  const port = Number(new URL(address).port);
  ({ proxy, url } = await TcpProxy.open(() => port));
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await proxy?.close();
  await api?.dispose();
});

let tab: SignedIn | null = null;
afterEach(async () => {
  await tab?.close();
  tab = null;
});

/** A page as somebody sees it, live. */
async function look(path: string, text: string, key = api.key): Promise<Page> {
  tab = await signIn(browser, { url, key }, { scheme: 'light', size: DESKTOP });
  await tab.page.goto(`${url}${path}`);
  await tab.page.getByText(text).first().waitFor();
  await isLive(tab.page);
  return tab.page;
}

const isLive = (page: Page) =>
  page
    .getByRole('status')
    .filter({ hasText: /^live$/ })
    .waitFor();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Answers the question that is asked. */
async function say(page: Page, why: string, order: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Why').fill(why);
  await dialog.getByRole('button', { name: order, exact: true }).click();
}

const controls = (rolloutId: string) =>
  api.database.db
    .selectFrom('rollout_controls')
    .select(['kind', 'actor', 'reason'])
    .where('rollout_id', '=', rolloutId)
    .execute();

const APPROVAL = 'Breaking migration: an operator must approve the canary batch.';

it('who created a rollout reads that a second person must approve it, and can not', async () => {
  const page = await look('/approvals', APPROVAL, anna);
  await page.getByText('key:anna is no second person').waitFor();
  expect(await button(page, 'Approve canaries').isDisabled()).toBe(true);
  expect(await button(page, 'Pause').isDisabled()).toBe(false);
});

it('who may only look is offered no order', async () => {
  const page = await look('/approvals', APPROVAL, onlooker);
  await page.getByText('key:looks may only look').waitFor();
  expect(await button(page, 'Approve canaries').isDisabled()).toBe(true);
  expect(await button(page, 'Pause').isDisabled()).toBe(true);
});

it('a second person approves where it waits, told what it means, with a reason', async () => {
  const page = await look('/approvals', APPROVAL);
  await button(page, 'Approve canaries').click();
  await page.getByRole('dialog').getByText('may not be readable by the old version').waitFor();
  expect(await button(page, 'Approve canaries').last().isDisabled()).toBe(true); // no reason yet
  await say(page, 'both canaries sign blocks', 'Approve canaries');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const approval = { kind: 'approve_canary', actor: 'key:test', reason: 'both canaries sign blocks' };
  expect(await controls(fleet.waitingId)).toEqual([approval]);
});

it('what changed while one decided is not ordered: it says so, and one looks again (If-Match)', async () => {
  const page = await look(`/rollouts/${fleet.rolloutId}`, 'validator-01');
  await button(page, 'Pause').click();
  const path = `/rollouts/${fleet.rolloutId}/pause`;
  expect((await api.call('POST', path, { reason: 'somebody else was quicker' })).status).toBe(200);
  await say(page, 'too late', 'Pause');
  await page.getByRole('alert').filter({ hasText: 'it changed meanwhile' }).waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Look again' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect((await controls(fleet.rolloutId)).map(({ reason }) => reason)).toEqual(['somebody else was quicker']);
});

it('an incident is acknowledged and resolved with a reason, which the audit shows with who', async () => {
  const page = await look('/incidents', 'validator-06 failed to start');
  await button(page, 'Acknowledge').click();
  await say(page, 'I read its log', 'Acknowledge');
  await page.getByText('There is none.').waitFor(); // of those that are open
  await page.getByText('Acknowledged', { exact: true }).click();
  await page.getByText('key:test is on it').waitFor();
  await button(page, 'Resolve').click();
  await say(page, 'a bad download', 'Resolve');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await publishEvents(api.database.db);
  await page.goto(`${url}/audit?kind=incident_resolved`);
  await page.getByText('a bad download').waitFor();
  expect(await page.getByText('I read its log').count()).toBe(0);
  const stored = await api.database.db.selectFrom('incidents').select(['status', 'resolved_by']).execute();
  expect(stored).toEqual([{ status: 'resolved', resolved_by: 'key:test' }]);
});

it('a node shows how each rollout ended there, and the log of the failed version to who may read it', async () => {
  const page = await look(`/nodes/${fleet.failedNodeId}`, 'cometbft did not stay up');
  await button(page, 'Log of the failed version').click();
  await page.getByLabel('Last lines of the failed version').getByText('panic: unknown file type').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
});

it('the fleet is counted by the server, and a count leads to its nodes by the address', async () => {
  const page = await look('/nodes', 'full-0003');
  await page.getByRole('list', { name: 'Version drift' }).getByText('5 × v0.21.0').waitFor();
  await page.getByRole('button', { name: /degraded/ }).click();
  await expect.poll(() => page.getByRole('table', { name: 'nodes' }).getAttribute('aria-rowcount')).toBe('67');
  expect(new URL(page.url()).search).toBe('?state=degraded');
  await page.goto(`${url}/nodes?chain=celestia-mocha&zone=eu-north`);
  await expect.poll(() => page.getByRole('table', { name: 'nodes' }).getAttribute('aria-rowcount')).toBe('13');
});

it('the audit is filtered by the server, and the filter is in the address', async () => {
  const page = await look('/audit', 'v0.21.0 mends the halt');
  await page.getByLabel('Who', { exact: true }).fill('nobody');
  await page.getByText('Nothing fits.').waitFor();
  expect(new URL(page.url()).search).toBe('?actor=nobody');
  await page.goto(`${url}/audit?by=system&actor=worker`);
  await page.getByText('validator-01').first().waitFor();
});

it('keys go to pages, the focus goes along, and they can be switched off (WCAG 2.1.4)', async () => {
  const page = await look('/rollouts', APPROVAL);
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await page.getByRole('heading', { name: 'Chains' }).waitFor();
  await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('content');
  expect(await page.title()).toBe('Chains · hoodcloud rollout');
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Keyboard shortcuts').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await dialog.getByLabel('Shortcuts are on').press('Space');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  expect([await dialog.count(), new URL(page.url()).pathname]).toEqual([0, '/chains']);
});

it('after a lost connection nothing old is shown as new: it is live when everything was read anew', async () => {
  const page = await look(`/rollouts/${fleet.rolloutId}`, 'validator-01');
  expect(await button(page, 'Cancel rollout').isDisabled()).toBe(false);
  proxy.cut();
  await page.getByRole('alert').filter({ hasText: 'Not live since' }).waitFor();
  expect(await button(page, 'Cancel rollout').isDisabled()).toBe(true);
  const { db } = api.database;
  await db.updateTable('rollouts').set({ status: 'canceled' }).where('id', '=', fleet.rolloutId).execute();
  let release: (() => void) | undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let asked = 0;
  await page.route(`**/api/v1/rollouts/${fleet.rolloutId}`, async (route) => {
    asked += 1;
    await held;
    await route.continue();
  });
  proxy.mend();
  await expect.poll(() => asked, { timeout: 60_000 }).toBeGreaterThan(0);
  expect(await page.getByRole('alert').filter({ hasText: 'Not live since' }).count()).toBe(1);
  expect(await button(page, 'Cancel rollout').isDisabled()).toBe(true);
  release?.();
  await isLive(page);
  expect(await button(page, 'Cancel rollout').count()).toBe(0);
  expect(await page.getByText('canceled').first().isVisible()).toBe(true);
});
