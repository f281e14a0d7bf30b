import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ProcessHost } from '../testing/process-host.ts';
import { failedVersionLog, historyReport } from './history-report.ts';
import { historyText } from './history-text.ts';
import { statusReport } from './status-report.ts';
import { statusText } from './status-text.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let host: ProcessHost;
beforeAll(async () => {
  host = await ProcessHost.make();
});
afterAll(() => host.dispose());

it('a damaged record and a damaged note of the last contact keep no agent from starting (field-cases 1, 17)', async () => {
  await mkdir(join(host.config.state_dir, 'attempts'), { recursive: true });
  await writeFile(join(host.config.state_dir, 'attempts', 'torn.json'), '{"format":1,"attem');
  await writeFile(join(host.config.state_dir, 'contact.json'), '');
  await host.startAgent();
  const { unreadable_records } = await statusReport(host.config);
  expect(unreadable_records).toEqual([]); // set aside by the agent
});

it('the status names versions by checksum, and the last contact', async () => {
  expect(await host.upgrade('good')).toMatchObject({ outcome: Outcome.COMPLETED });
  const report = await statusReport(host.config);
  expect(report).toMatchObject({
    agent_running: true,
    node: { name: 'validator-1' },
    control_plane: { connected: true, last_contact_at: expect.stringMatching(/^20/) },
    components: [{ state: 'running', held: false, running: { version: 'v2.0.0' }, open: null, error: null }],
  });
  expect(statusText(report)).toMatch(/running {4}v2\.0\.0 {2}sha256:.*\n {2}installed {2}the same/);
});

it('the history tells how attempts ended and why, and gives the log of the version that failed (A18)', async () => {
  expect(await host.upgrade('bad', 'crashes')).toMatchObject({ outcome: Outcome.ROLLED_BACK });
  const [bad, good] = await historyReport(host.config, null);
  expect(good).toMatchObject({ attempt_id: 'good', outcome: 'completed', reason: null, log: null });
  expect(bad).toMatchObject({
    attempt_id: 'bad',
    outcome: 'rolled_back',
    failed_action: 'start_node',
    reason: expect.stringContaining('panic: bad data'),
    backup: join(host.folder, 'data', '.upgrade-backup', 'bad'),
    log: join(host.folder, 'data', '.upgrade-backup', 'bad', 'failed-version.log'),
  });
  expect(historyText(await historyReport(host.config, 'node'))).toMatch(/✗ failed, undone .*s\n {2}attempt {2}bad/);
  expect(await failedVersionLog(host.config, 'bad')).toContain('panic: bad data');
  await rm(bad?.log ?? '');
  expect(await failedVersionLog(host.config, 'bad')).toContain('panic: bad data'); // the record has its last lines
  await expect(failedVersionLog(host.config, 'good')).rejects.toMatchObject({ code: 'no_log' });
  await expect(failedVersionLog(host.config, 'none')).rejects.toMatchObject({ code: 'unknown_attempt' });
});

it('the status is told with the agent dead too', async () => {
  await host.stopAgent();
  const report = await statusReport(host.config);
  expect(report).toMatchObject({
    agent_running: false,
    control_plane: { connected: false, last_contact_at: expect.stringMatching(/^20/) },
    components: [{ state: 'running' }],
  });
  expect(statusText(report)).toContain('not running');
});
