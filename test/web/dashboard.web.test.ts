import { appendEvent } from '@hoodcloud/controlplane/events/append-event';
import { publishEvents } from '@hoodcloud/controlplane/events/event-relay';
import { ApiFixture } from '@hoodcloud/controlplane/http/testing/api-fixture';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityViolations, DASHBOARD, DESKTOP, openBrowser, PHONE, type SignedIn, signIn } from './browser.ts';
import { EXAMPLE_FILES, type ExampleFleet, insertExampleFleet, keepAlive } from './example-fleet.ts';
import { documentedScreenshots, screenshot } from './screenshots.ts';

let api: ApiFixture;
let url: string;
let browser: Browser;
let fleet: ExampleFleet;
beforeAll(async () => {
  api = await ApiFixture.create({ dashboardFolder: DASHBOARD });
  url = await api.app.listen({ port: 0, host: '127.0.0.1' });
  fleet = await insertExampleFleet(api.database.db);
  for (const [file, text] of Object.entries(EXAMPLE_FILES)) await api.writeConfig(file, text);
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await api?.dispose();
});

const enter = (size = DESKTOP): Promise<SignedIn> => signIn(browser, { url, key: api.key }, { scheme: 'light', size });

/** Every page: its path, and a text that only its data brings. */
const PAGES: readonly (readonly [string, () => string, string])[] = [
  ['rollouts', () => '/rollouts', 'Breaking migration: an operator must approve the canary batch.'],
  ['rollout', () => `/rollouts/${fleet.rolloutId}`, 'Being upgraded: 3 nodes (batch 1).'],
  ['fleet', () => '/nodes', 'full-0003'],
  ['node', () => `/nodes/${fleet.failedNodeId}`, 'edited on the host'],
  ['incidents', () => '/incidents', 'Restore the snapshot of last night before you retry.'],
  ['groups', () => '/groups', 'execution is being upgraded, component 1 of 2.'],
  ['approvals', () => '/approvals', 'Breaking migration: an operator must approve the canary batch.'],
  ['policies', () => '/policies', 'frozen now'],
  ['audit', () => '/audit', 'v0.21.0 mends the halt at block 4,180,000'],
  ['chains', () => '/chains', '4,181,023'],
  ['chain', () => '/chains/celestia-mocha', 'unknown field "colour"'],
  ['plans', () => '/plans', 'No plan is saved.'],
  ['new-plan', () => '/plans/new', 'Show the plan'],
  ['group', () => `/groups/${fleet.groupId}`, 'companion to v2.0.0'],
];

const DEVICES = [
  ['desktop', DESKTOP],
  ['phone', PHONE],
] as const;
const SCHEMES = ['light', 'dark'] as const;
/** Pictures of moments, beside those of pages. */
const MOMENTS = ['sign-in-light-desktop', 'pause-light-desktop', 'not-live-light-desktop'];

/** How much wider than its window the page is, in pixels. */
const OVERHANG = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

async function open(page: Page, path: string, text: string): Promise<void> {
  await keepAlive(api.database.db);
  await page.goto(`${url}${path}`);
  await page.getByText(text).first().waitFor();
  await page
    .getByRole('status')
    .filter({ hasText: /^live$/ })
    .waitFor();
}

describe.each(DEVICES)('on a %s', (device, size) => {
  let tab: SignedIn;
  beforeAll(async () => {
    tab = await enter(size);
  });
  afterAll(() => tab?.close());

  it.each(PAGES)(
    '%s shows what is, light and dark, without barriers, errors or foreign requests',
    async (name, path, text) => {
      const { page, complaints } = tab;
      await open(page, path(), text);
      for (const scheme of SCHEMES) {
        await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
        await page.locator(`[data-mantine-color-scheme=${scheme}]`).waitFor();
        await screenshot(page, `${name}-${scheme}-${device}`);
        expect(await accessibilityViolations(page, scheme === 'light' ? 'all' : 'colours'), scheme).toEqual([]);
      }
      expect(await page.evaluate(OVERHANG)).toBe(0);
      expect(await page.title()).not.toBe('hoodcloud rollout');
      expect(complaints).toEqual([]);
    },
  );
});

it('a wrong key is refused with a sentence, and what is typed is kept nowhere', async () => {
  const page = await browser.newPage();
  await page.goto(`${url}/rollouts`);
  await page.getByLabel('API key').fill('hc_wrong.key');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await screenshot(page, 'sign-in-light-desktop', { whole: false });
  expect(await page.evaluate('sessionStorage.length + localStorage.length + document.cookie.length')).toBe(0);
  await page.close();
});

it('a list holds only the rows in sight, and asks for more while it is scrolled', async () => {
  const { page, close } = await enter();
  await open(page, '/nodes', 'full-0003');
  const rows = page.getByRole('table', { name: 'nodes' });
  expect(await rows.locator('.rows-row').count()).toBeLessThan(60);
  await rows.locator('.rows-scroll').focus();
  await expect
    .poll(async () => {
      await page.keyboard.press('End');
      return page.getByText('validator-24').count();
    })
    .toBe(1);
  await page.getByLabel('Name').fill('validator-2');
  await expect.poll(() => rows.getAttribute('aria-rowcount')).toBe('6'); // 20 to 24 and the head
  await close();
});

it('a pause is explained, asks why, and is stored with reason and actor, by the keyboard alone', async () => {
  const { page, complaints, close } = await enter();
  await open(page, `/rollouts/${fleet.rolloutId}`, 'validator-01');
  await page.getByRole('button', { name: 'Pause', exact: true }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('3 nodes under way will end first').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await screenshot(page, 'pause-light-desktop', { whole: false });
  await page.keyboard.type('the disk alarm of validator-09');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  const stored = await api.database.db.selectFrom('rollout_controls').select(['kind', 'actor', 'reason']).execute();
  expect(stored).toEqual([{ kind: 'pause', actor: 'key:test', reason: 'the disk alarm of validator-09' }]);
  expect(complaints).toEqual([]);
  await close();
});

it('what happens appears without a reload', async () => {
  const { page, close } = await enter();
  await open(page, `/rollouts/${fleet.rolloutId}`, 'validator-01');
  const { db } = api.database;
  await db
    .updateTable('rollout_nodes')
    .set({ upgrade_phase: 'ROLLBACKING', phase_changed_at: new Date() })
    .where('node_id', '=', fleet.nodeId)
    .execute();
  await appendEvent(db, {
    kind: 'node_upgrade_phase_changed',
    subjectType: 'rollout',
    subjectId: fleet.rolloutId,
    rolloutId: fleet.rolloutId,
    nodeId: fleet.nodeId,
    actor: 'system:agent',
    data: { from: 'VERIFYING', to: 'ROLLBACKING', phase: 'ROLLBACKING' },
  });
  await publishEvents(db);
  await expect.poll(() => page.getByText('ROLLBACKING').count()).toBe(2); // its row and the timeline
  await close();
});

it('a lost connection is said with its time, and nothing can be ordered from old data', async () => {
  const { page, close } = await enter();
  await open(page, `/rollouts/${fleet.rolloutId}`, 'validator-01');
  await api.app.close();
  await page.getByText(/Not live since \d\d:\d\d:\d\d UTC/).waitFor();
  expect(await page.getByRole('button', { name: 'Cancel rollout' }).isDisabled()).toBe(true);
  expect(await accessibilityViolations(page)).toEqual([]);
  await screenshot(page, 'not-live-light-desktop', { whole: false });
  await close();
});

it('the documents have a picture of every page, light and dark, desktop and phone, and none of a page that is gone', () => {
  const ofPages = PAGES.flatMap(([name]) =>
    DEVICES.flatMap(([device]) => SCHEMES.map((scheme) => `${name}-${scheme}-${device}`)),
  );
  expect(documentedScreenshots(), 'npm run screenshots makes them anew').toEqual([...ofPages, ...MOMENTS].sort());
});
