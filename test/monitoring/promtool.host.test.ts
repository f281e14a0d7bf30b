import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { allMetrics } from '@hoodcloud/controlplane/telemetry/testing/all-metrics';
import { expect, it } from 'vitest';

const ALERTS = resolve(import.meta.dirname, '../../deploy/monitoring/alerts.yaml');

/** Debian's promtool (package `prometheus`); what it complains of. */
function promtool(args: readonly string[], input = ''): { status: number | null; output: string } {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  if (error) throw error;
  return { status, output: `${stdout}${stderr}` };
}

it('promtool check metrics finds nothing in what the control plane tells', async () => {
  const { status, output } = promtool(['check', 'metrics'], await allMetrics().metrics());
  expect(output).toBe('');
  expect(status).toBe(0);
});

it('promtool check rules finds nothing in the alert rules', () => {
  const { status, output } = promtool(['check', 'rules', ALERTS]);
  expect(output).toMatch(/SUCCESS: \d+ rules found/);
  expect(status).toBe(0);
});
