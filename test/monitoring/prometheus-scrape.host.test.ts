import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '@hoodcloud/controlplane/dev/child-server';
import { until } from '@hoodcloud/testkit/until';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Child } from '../e2e/stack/child.ts';
import { ControlPlane, ROLES } from '../e2e/stack/control-plane.ts';
import { bundlePrograms, type Programs } from '../e2e/stack/programs.ts';
import { type Stores, sharedStores } from '../e2e/stack/stores.ts';

const ALERTS = resolve(import.meta.dirname, '../../deploy/monitoring/alerts.yaml');

let folder: string;
let programs: Programs | undefined;
let stores: Stores | undefined;
let controlPlane: ControlPlane | undefined;
let prometheus: Child | undefined;
let address: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hoodcloud-prometheus-'));
  programs = await bundlePrograms();
  stores = await sharedStores();
  controlPlane = await ControlPlane.start({ programs, ...stores });
  address = `127.0.0.1:${await freePort()}`;
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(configOf(controlPlane))); // JSON is YAML
  prometheus = new Child('prometheus', prometheusCommand(), process.env, join(folder, 'prometheus.log'));
  prometheus.start();
});
afterAll(async () => {
  await prometheus?.stop();
  await controlPlane?.dispose();
  await stores?.dispose();
  programs?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

function configOf(plane: ControlPlane) {
  const targets = ROLES.map((role) => ({ targets: [plane.metricsAddress(role)], labels: { role } }));
  return {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [ALERTS],
    scrape_configs: [{ job_name: 'hoodcloud', static_configs: targets }],
  };
}

function prometheusCommand(): [string, ...string[]] {
  const data = `--storage.tsdb.path=${join(folder, 'data')}`;
  return ['prometheus', `--config.file=${join(folder, 'prometheus.yml')}`, data, `--web.listen-address=${address}`];
}

/** `data` of an answer of Prometheus’ API. */
async function ask<T>(path: string): Promise<T> {
  const { data } = (await (await fetch(`http://${address}/api/v1/${path}`)).json()) as { readonly data: T };
  return data;
}

interface Target {
  readonly labels: { readonly role: string };
  readonly health: string;
  readonly lastError: string;
}

interface Rule {
  readonly name: string;
  readonly health: string;
  readonly lastError?: string;
}

it('Prometheus scrapes every role of a running control plane', async () => {
  const scraped = await until('a scrape of each role', async () => {
    if (!prometheus?.running) throw new Error(`prometheus ended:\n${prometheus?.logTail()}`);
    const { activeTargets } = await ask<{ activeTargets: Target[] }>('targets?state=active');
    return activeTargets.length > 0 && activeTargets.every(({ health }) => health !== 'unknown') && activeTargets;
  });
  const told = scraped.map(({ labels, health, lastError }) => `${labels.role}: ${health} ${lastError}`.trim());
  expect(told.sort()).toEqual(ROLES.map((role) => `${role}: up`).sort());
});

it('Prometheus evaluates every alert rule on what they tell, without an error', async () => {
  const rules = await until('an evaluation of each rule', async () => {
    const { groups } = await ask<{ groups: { rules: Rule[] }[] }>('rules?type=alert');
    const all = groups.flatMap((group) => group.rules);
    return all.length > 0 && all.every(({ health }) => health !== 'unknown') && all;
  });
  expect(rules.filter(({ health }) => health !== 'ok').map(({ name, lastError }) => `${name}: ${lastError}`)).toEqual(
    [],
  );
  expect(rules.length).toBeGreaterThan(5);
});

it('each role tells of its own process, in names that promtool accepts', async () => {
  const roles = controlPlane;
  if (!roles) throw new Error('no control plane');
  for (const role of ROLES) {
    const told = await (await fetch(`http://${roles.metricsAddress(role)}/metrics`)).text();
    for (const name of ['process_resident_memory_bytes', 'process_open_fds', 'nodejs_eventloop_lag_max_seconds']) {
      expect(told).toMatch(new RegExp(`^${name} [0-9.e-]+$`, 'm'));
    }
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: told, encoding: 'utf8' });
    expect(`${stdout}${stderr}`).toBe('');
    expect(status).toBe(0);
  }
});
