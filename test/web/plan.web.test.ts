import { resolve } from 'node:path';
import { ApiFixture, TEST_PROFILE } from '@hoodcloud/controlplane/http/testing/api-fixture';
import { checksumOf, insertNode } from '@hoodcloud/testkit/rows';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { accessibilityViolations, DESKTOP, openBrowser, PHONE, signIn } from './browser.ts';
import { screenshot } from './screenshots.ts';

const DASHBOARD = resolve(import.meta.dirname, '../../dist/dashboard');
const SECRET = 'correct-horse-battery-staple';
const manifest = (id: string, more = '') => `upgrade_id: ${id}
chain_profile_id: testchain
node_type: validator
binary_name: cometbft
target_version: ${id}
target_url: https://example.org/${id}
target_checksum: ${checksumOf('b')}
config_changes: [{ path: /etc/node/config.toml, template: config.tmpl }]
${more}`;

let api: ApiFixture;
let url: string;
let browser: Browser;
beforeAll(async () => {
  api = await ApiFixture.create({ dashboardFolder: DASHBOARD });
  url = await api.app.listen({ port: 0, host: '127.0.0.1' });
  await api.writeConfig('testchain/profile.yaml', TEST_PROFILE);
  await api.writeConfig('testchain/templates/config.tmpl', 'peers = {{ .max_peers }}\nauth = "{{ .rpc_password }}"\n');
  await api.writeConfig('upgrades/testchain/v2.yaml', manifest('v2'));
  const breaking = 'state_compatibility: { migration_type: breaking }\nrecovery_plan: restore the snapshot\n';
  await api.writeConfig('upgrades/testchain/v3.yaml', manifest('v3', breaking));
  const variables = JSON.stringify({ rpc_password: SECRET });
  for (let index = 1; index <= 7; index += 1) {
    const labels = JSON.stringify({ zone: index < 5 ? 'eu' : 'us' });
    const offline = index === 7 && { last_heartbeat_at: new Date(0) };
    await insertNode(api.database.db, { name: `val-${index}`, labels, variables, ...offline });
  }
  browser = await openBrowser();
});
beforeEach(async () => {
  const { pool } = api.database;
  await pool.query(`update node_config_state set binary_version = 'v1.0.0'`);
  // nobody sends heartbeats here: without this the fleet would be offline after a minute
  await pool.query(`update nodes set last_heartbeat_at = now() + interval '1 hour' where name <> 'val-7'`);
  await pool.query('truncate active_chains, rollout_plans; delete from rollout_controls; delete from rollouts');
});
afterAll(async () => {
  await browser?.close();
  await api?.dispose();
});

const enter = (scheme: 'light' | 'dark' = 'light', size = DESKTOP) =>
  signIn(browser, { url, key: api.key }, { scheme, size });

async function choose(page: Page, label: string, option: string | RegExp): Promise<void> {
  await page
    .getByRole('combobox', { name: label })
    .or(page.getByLabel(label, { exact: true }))
    .first()
    .click();
  await page.getByRole('option', { name: option }).click();
}

async function describeRollout(page: Page): Promise<void> {
  await page.goto(`${url}/plans/new`);
  await choose(page, 'Chain', /^testchain/);
  await choose(page, 'Upgrade', 'v2');
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

it('a rollout is planned, saved and started in the browser, and no secret is ever on the page', async () => {
  const { page, complaints, close } = await enter();
  await describeRollout(page);
  await choose(page, 'Strategy', /^canary/);
  await page.getByLabel('Batch size').fill('3');
  await button(page, 'Show the plan').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('list', { name: 'Planned batches' }).waitFor();
  await page.getByText('cometbft v1.0.0 (6) → v2').waitFor();
  await page.getByText('not known: no past rollouts of this binary on this chain').waitFor();
  await page.getByText('val-7').waitFor();
  await page.getByText('<secret rpc_password>').first().waitFor();
  expect(await page.content()).not.toContain(SECRET);
  expect(await accessibilityViolations(page)).toEqual([]);
  await screenshot(page, 'new-plan-light-desktop');
  await button(page, 'Save the plan').click();
  await page.getByText('Nothing has changed since').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await screenshot(page, 'plan-light-desktop');
  await button(page, 'Start…').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('6 nodes of testchain get cometbft v2, in 3 batches; each is stopped for a while.').waitFor();
  await dialog.getByLabel('Why').fill('the fork is tonight');
  await button(page, 'Start the rollout').click();
  await page.getByRole('link', { name: 'Follow the rollout' }).waitFor();
  const stored = await api.database.db.selectFrom('rollout_controls').select(['kind', 'actor', 'reason']).execute();
  expect(stored).toEqual([{ kind: 'start', actor: 'key:test', reason: 'the fork is tonight' }]);
  await page.goto(`${url}/plans`);
  await page.getByRole('table', { name: 'plans' }).getByText('started').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await close();
});

it('what is wrong is read at its field, of the form and of the rules, and can not be saved', async () => {
  const { page, close } = await enter();
  await page.goto(`${url}/plans/new`);
  await button(page, 'Show the plan').click();
  await page.getByText('Choose a chain.').waitFor();
  await page.goto(`${url}/chains/testchain`);
  await page.getByRole('link', { name: 'Plan a rollout of v3' }).click();
  await page.getByText('cometbft v3 for nodes of type validator, migration breaking').waitFor();
  await page.getByLabel('Batch size').fill('none');
  await button(page, 'Show the plan').click();
  await page.getByText('It must be a whole number from 1 to 100000.').waitFor();
  await page.getByLabel('Batch size').fill('2');
  await button(page, 'Show the plan').click();
  await page.getByText('It breaks a rule: put it right first.').waitFor();
  const strategy = page.getByLabel('Strategy', { exact: true }).first();
  await expect.poll(() => strategy.getAttribute('aria-invalid')).toBe('true');
  expect(await button(page, 'Save the plan').isDisabled()).toBe(true);
  expect(await accessibilityViolations(page)).toEqual([]);
  await screenshot(page, 'new-plan-refused-light-desktop');
  await close();
});

it.each([
  ['light', 'phone', PHONE],
  ['dark', 'phone', PHONE],
  ['dark', 'desktop', DESKTOP],
] as const)('a plan whose world has changed says what, in %s on a %s', async (scheme, device, size) => {
  const request = { chain_profile_id: 'testchain', node_type: 'validator', upgrade_id: 'v2', strategy: 'rolling' };
  const { body } = await api.call<{ id: string }>('POST', '/rollout-plans', { request });
  await api.database.pool.query(`update node_config_state set binary_version = 'v1.5.0'`);
  const { page, complaints, close } = await enter(scheme, size);
  await page.goto(`${url}/plans/${body.id}`);
  await page.getByText('val-1 had v1.0.0 and has v1.5.0 now.').waitFor();
  expect(await button(page, 'Start…').isDisabled()).toBe(true);
  expect(await accessibilityViolations(page)).toEqual([]);
  const wider = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  expect(await page.evaluate(wider)).toBe(0);
  await screenshot(page, `plan-changed-${scheme}-${device}`);
  await page.goto(`${url}/plans/new`);
  await button(page, 'Show the plan').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  expect(await page.evaluate(wider)).toBe(0);
  await screenshot(page, `new-plan-${scheme}-${device}`);
  expect(complaints).toEqual([]);
  await close();
});
