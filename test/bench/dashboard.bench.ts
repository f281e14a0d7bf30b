import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventRelay } from '@hoodcloud/controlplane/events/event-relay';
import { ProgressBuffer } from '@hoodcloud/controlplane/gateway/command-progress';
import { ApiFixture } from '@hoodcloud/controlplane/http/testing/api-fixture';
import { ReconcilerRunner } from '@hoodcloud/controlplane/reconciler-runner';
import { startTestPostgres } from '@hoodcloud/testkit/postgres';
import type { Page } from 'playwright-core';
import { buildDashboard } from '../../tools/build/build-dashboard.mjs';
import { DESKTOP, openBrowser, signIn } from '../web/browser.ts';
import { insertEvents, insertLargeRollout, type LargeRollout } from './dashboard/large-rollout.ts';
import { median, percentile, printFigures } from './figures.ts';

/**
 * What an operator sees of a rollout over 10,000 nodes: how soon, how late after the agent said it, and what the tab holds
 * after an hour of events. `npm run bench -- dashboard [NODES] [EVENTS]`: by default 10,000 nodes, and 36,000 events
 * (ten a second for an hour), brought in as fast as 120 a second.
 */
const NODES = Number(process.argv[2] ?? 10_000);
const EVENTS = Number(process.argv[3] ?? 36_000);
const LOADS = 7;
const PROBES = 60;
/** As the gateway's. */
const FLUSH_MS = 250;
const EVENTS_A_SECOND = 120;
const complaint = await buildDashboard();
if (complaint !== undefined) throw new Error(`the dashboard could not be built:\n${complaint}`);
const DASHBOARD = resolve(import.meta.dirname, '../../dist/dashboard');

const log = { info: () => undefined, warn: console.warn, error: console.error };
const postgres = await startTestPostgres();
process.env.HOODCLOUD_TEST_DATABASE_URL = postgres.server.url();
const api = await ApiFixture.create({ dashboardFolder: DASHBOARD, requestsPerMinute: 100_000 });
const url = await api.app.listen({ port: 0, host: '127.0.0.1' });
const { db } = api.database;
const relay = new ReconcilerRunner({ databaseUrl: api.database.url, log, reconcilers: [eventRelay(db)] });
await relay.start();
const browser = await openBrowser();
try {
  const rollout = await insertLargeRollout(api.database, NODES);
  const { page, complaints } = await signIn(browser, { url, key: api.key }, { scheme: 'light', size: DESKTOP });
  const place = `${url}/rollouts/${rollout.rolloutId}`;
  const paint = await firstPaints(page, place);
  await page.getByRole('combobox', { name: 'Status' }).click();
  await page.getByRole('option', { name: 'in progress' }).click();
  await page.locator('[role=table][aria-rowcount="51"]').waitFor();
  const quiet = await lateness(page, rollout, { events: false });
  const busy = await lateness(page, rollout, { events: true });
  const memory = await memoryOverAnHour(page, rollout);
  if (complaints.length > 0) console.log(`the page complained: ${[...new Set(complaints)].join(' | ')}`);
  const of = { nodes: NODES };
  printFigures([
    { name: 'first_rows', value: median(paint.rowsMs), unit: 'ms', better: 'lower', runs: LOADS, ...of },
    { name: 'first_contentful_paint', value: median(paint.fcpMs), unit: 'ms', better: 'lower', runs: LOADS, ...of },
    { name: 'requests_until_first_rows', value: paint.requests, unit: 'requests', better: 'lower', ...of },
    { name: 'script_and_style_gzip', value: gzipKb(), unit: 'kB', better: 'lower' },
    { name: 'progress_to_pixel_p50', value: median(quiet), unit: 'ms', better: 'lower', runs: PROBES, ...of },
    {
      name: 'progress_to_pixel_p95',
      value: percentile(quiet, 0.95),
      unit: 'ms',
      goal: 1000,
      better: 'lower',
      runs: PROBES,
      ...of,
    },
    {
      name: 'progress_to_pixel_p95_busy',
      value: percentile(busy, 0.95),
      unit: 'ms',
      goal: 1000,
      better: 'lower',
      runs: PROBES,
      events_a_second: EVENTS_A_SECOND,
      ...of,
    },
    { name: 'tab_heap_before', value: memory.beforeMb, unit: 'MB', better: 'lower', ...of },
    { name: 'tab_heap_after', value: memory.afterMb, unit: 'MB', better: 'lower', events: EVENTS, ...of },
  ]);
} finally {
  await browser.close();
  await relay.stop();
  await api.dispose();
  await postgres.dispose();
}

/** From the navigation to the first row of the rollout's nodes, again and again in one tab. */
async function firstPaints(page: Page, place: string) {
  const rowsMs: number[] = [];
  const fcpMs: number[] = [];
  let requests = 0;
  const count = () => {
    requests += 1;
  };
  page.on('request', count);
  for (let load = 0; load < LOADS; load += 1) {
    requests = 0;
    await page.goto(place);
    await page.locator('.rows-row').first().waitFor();
    rowsMs.push(await page.evaluate<number>('performance.now()'));
    fcpMs.push(await page.evaluate<number>('performance.getEntriesByName("first-contentful-paint")[0].startTime'));
  }
  page.off('request', count);
  return { rowsMs, fcpMs, requests };
}

/** From the gateway's taking of an agent's progress to the frame that shows it, both by this machine's clock. */
async function lateness(page: Page, { rolloutId, underway }: LargeRollout, { events }: { events: boolean }) {
  const progress = new ProgressBuffer(db, log);
  const flushing = setInterval(() => void progress.flush(), FLUSH_MS);
  const stop = new AbortController();
  const night = events ? bringEvents(rolloutId, Number.POSITIVE_INFINITY, stop.signal) : Promise.resolve();
  const late: number[] = [];
  for (let probe = 0; probe < PROBES; probe += 1) {
    const row = underway[probe % 5];
    if (row === undefined) throw new Error('no node is under way');
    const note = `probe ${events ? 'busy' : 'quiet'} ${probe}`;
    const shown = page.evaluate<number>(
      `new Promise((resolve) => {
         const look = () => document.body.textContent.includes(${JSON.stringify(`${note})`)})
           ? requestAnimationFrame(() => resolve(Date.now())) : requestAnimationFrame(look);
         look();
       })`,
    );
    await sleep(Math.random() * 500);
    const said = Date.now();
    progress.add(row.nodeId, {
      $typeName: 'hoodcloud.agent.v1.CommandProgress',
      commandId: row.commandId,
      attemptId: row.attemptId,
      actionIndex: 1,
      actionName: 'DOWNLOAD',
      progressPct: probe,
      note,
      phase: 'PREPARING',
    });
    const timer = AbortSignal.timeout(30_000);
    const lost = new Promise<never>((_, reject) => {
      timer.addEventListener('abort', () => reject(new Error(`"${note}" was not on the page within 30 s`)));
    });
    late.push((await Promise.race([shown, lost])) - said);
  }
  stop.abort();
  await night;
  clearInterval(flushing);
  return late;
}

/** What the tab holds after a forced collection, before and after the events. */
async function memoryOverAnHour(page: Page, { rolloutId }: LargeRollout) {
  const beforeMb = await heapMb(page);
  await bringEvents(rolloutId, EVENTS, new AbortController().signal);
  await sleep(3000);
  return { beforeMb, afterMb: await heapMb(page) };
}

async function heapMb(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.enable');
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  await session.detach();
  return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN) / 2 ** 20;
}

async function bringEvents(rolloutId: string, count: number, signal: AbortSignal): Promise<void> {
  const step = EVENTS_A_SECOND / 4;
  for (let sent = 0; sent < count && !signal.aborted; sent += step) {
    const began = Date.now();
    await insertEvents(api.database, rolloutId, step);
    await sleep(Math.max(0, 250 - (Date.now() - began)));
  }
}

/** What a browser loads, compressed as the API sends it to one that knows no brotli. */
function gzipKb(): number {
  const assets = join(DASHBOARD, 'assets');
  const bytes = readdirSync(assets)
    .filter((name) => name.endsWith('.gz'))
    .reduce((sum, name) => sum + statSync(join(assets, name)).size, 0);
  return bytes / 1024;
}
