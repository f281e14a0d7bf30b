import { resolve } from 'node:path';
import { placeOf } from '@hoodcloud/contracts/http/dashboard-paths';
import { ApiFixture } from '@hoodcloud/controlplane/http/testing/api-fixture';
import { nextStepOf } from '@hoodcloud/domain/why/waiting-reasons';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, it } from 'vitest';
import { CASE_KEYS, placeCase, WAITING_CODES } from '../why/place-case.ts';
import { DESKTOP, openBrowser, type SignedIn, signIn } from './browser.ts';

const DASHBOARD = resolve(import.meta.dirname, '../../dist/dashboard');

let api: ApiFixture;
let browser: Browser;
let tab: SignedIn;
beforeAll(async () => {
  api = await ApiFixture.create({ manifestKeys: CASE_KEYS, dashboardFolder: DASHBOARD, requestsPerMinute: 100_000 });
  const url = await api.app.listen({ port: 0, host: '127.0.0.1' });
  browser = await openBrowser();
  tab = await signIn(browser, { url, key: api.key }, { scheme: 'light', size: DESKTOP });
});
afterAll(async () => {
  await tab?.close();
  await browser?.close();
  await api?.dispose();
});

/** As a link does it: the page is not loaded anew. */
const goTo = (path: string) =>
  tab.page.evaluate(`history.pushState({}, '', '${path}'); dispatchEvent(new PopStateEvent('popstate'))`);

it.each(WAITING_CODES)('the page of a rollout, node or group answers %s (C11)', async (code) => {
  const { ask, sentences } = await placeCase(api, code);
  await goTo(placeOf(ask.kind, ask.id));
  const why = tab.page.locator('.content .why').first();
  for (const sentence of sentences) await why.getByText(sentence, { exact: true }).first().waitFor();
  const steps = sentences.length === 1 ? [nextStepOf(code)] : [];
  for (const step of steps) {
    if (step !== null && !step.startsWith('Nothing')) await why.getByText(`What to do: ${step}`).waitFor();
  }
});

it('a row of the rollout says why its node waits', async () => {
  const { rolloutId, sentences } = await placeCase(api, 'batch_waits', '-row');
  await goTo(placeOf('rollout', rolloutId ?? ''));
  await tab.page.getByRole('table', { name: 'Nodes of the rollout' }).getByText(sentences.join(' ')).waitFor();
});
