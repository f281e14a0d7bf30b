import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { metricLabels } from '@hoodcloud/controlplane/telemetry/testing/all-metrics';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, 'deploy/monitoring', path), 'utf8');
const known = metricLabels();

/** Series of a histogram are told under its name and one of these. */
const baseOf = (name: string) => (known.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''));

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}
const alerts = parse(read('alerts.yaml')) as { groups: { rules: { alert: string; expr: string }[] }[] };
const dashboard = JSON.parse(read('grafana-dashboard.json')) as Dashboard;
const expressions = [
  ...alerts.groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr] as const)),
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => [expr, expr] as const)),
];

it.each(expressions)('%s asks only for metrics and labels that the control plane tells', (_, expr) => {
  const selectors = [...expr.matchAll(/\b(hoodcloud_\w+)(?:\{([^}]*)\})?/g)];
  expect(selectors.length).toBeGreaterThan(0);
  for (const [, name = '', labels = ''] of selectors) {
    expect([...known.keys()], name).toContain(baseOf(name));
    const asked = [...labels.matchAll(/(\w+)(?:=~|!=|!~|=)"/g)].map(([, label]) => label);
    expect(known.get(baseOf(name)) ?? []).toEqual(expect.arrayContaining(asked));
  }
  const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '));
  const labels = [...new Set(selectors.flatMap(([, name = '']) => [...(known.get(baseOf(name)) ?? []), 'le']))];
  expect(labels).toEqual(expect.arrayContaining(grouped));
});

it('every metric of the control plane is on the dashboard or in an alert', () => {
  const files = readdirSync(join(ROOT, 'deploy/monitoring')).map(read).join('\n');
  const asked = [...files.matchAll(/hoodcloud_\w+/g)].map(([name]) => baseOf(name));
  expect([...new Set(asked)]).toEqual(expect.arrayContaining([...known.keys()]));
});

it('no label is one that grows without end: ids are of active rollouts only, whose series end with them', () => {
  const ids = [...known].filter(([, labels]) => labels.some((label) => /(^|_)id$/.test(label))).map(([name]) => name);
  expect(ids.sort()).toEqual(['hoodcloud_rollout_node_phase', 'hoodcloud_rollout_progress']);
});
