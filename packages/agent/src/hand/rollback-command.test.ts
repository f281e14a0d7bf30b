import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { lockAgent } from '../agent-lock.ts';
import { ProcessHost } from '../testing/process-host.ts';
import { rollbackCommand } from './rollback-command.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let host: ProcessHost;
let said: string[];
beforeEach(async () => {
  host = await ProcessHost.make();
  said = [];
});
afterEach(() => host.dispose());

const ASKED = { component: null, attempt: null, yes: false, dryRun: false, json: false };

function rollBack(options: Partial<typeof ASKED> = {}, answer: string | null = null) {
  const say = (text: string) => said.push(text);
  return rollbackCommand(host.config, { ...ASKED, ...options }, { out: say, note: say, ask: async () => answer });
}

const runningNow = () => host.gateway.all('heartbeat').at(-1)?.components[0]?.runningChecksum;

it('is done by the agent that runs, with no release to be had, and the gateway hears of it', async () => {
  await host.startAgent();
  const old = runningNow();
  expect(await host.upgrade('attempt-1')).toMatchObject({ outcome: Outcome.COMPLETED });
  await host.releases.close();
  expect(await rollBack({}, 'y')).toBe(0);
  expect(said[0]).toContain('The running agent does it.');
  expect(said[0]).toMatch(/Installed {2}v2\.0\.0 .*\nGoes to {4}v1\.0\.0 /);
  expect(said.at(-1)).toMatch(/✓ node runs v1\.0\.0 .* again, down for/);
  expect(await host.file('etc', 'config.toml')).toBe('peers = 10\n');
  expect(await host.resultOf('by-hand.node')).toMatchObject({ outcome: Outcome.COMPLETED, runningChecksum: old });
  await expect.poll(runningNow, { timeout: 30_000 }).toBe(old);
  expect((await stat(join(host.config.state_dir, 'hand.sock'))).mode & 0o777).toBe(0o600);
});

it('is done by the command itself when agent and control plane are gone, and told when they are back', async () => {
  await host.startAgent();
  const old = runningNow();
  await host.upgrade('attempt-1');
  await host.stopAgent();
  await host.releases.close();
  expect(await rollBack({ yes: true })).toBe(0);
  expect(said[0]).toContain('this command does it');
  expect(await host.file('etc', 'config.toml')).toBe('peers = 10\n');
  await host.startAgent();
  expect(await host.resultOf('by-hand.node')).toMatchObject({ outcome: Outcome.COMPLETED, runningChecksum: old });
  expect(runningNow()).toBe(old);
});

it('does nothing without a yes, or when nobody is there to be asked', async () => {
  await host.startAgent();
  await host.upgrade('attempt-1');
  for (const answer of [null, '', 'n'])
    await expect(rollBack({}, answer)).rejects.toMatchObject({ code: 'not_agreed' });
  expect(await rollBack({ dryRun: true })).toBe(0);
  expect(await host.file('etc', 'config.toml')).toBe('peers = 100\n');
});

it('leaves it to an agent that was started between the question and the answer', async () => {
  await host.startAgent();
  await host.upgrade('attempt-1');
  await host.stopAgent();
  const starting = { out: () => undefined, note: () => undefined };
  const ask = async () => {
    expect(await lockAgent(host.config.state_dir)).not.toBeNull();
    return 'y';
  };
  await expect(rollbackCommand(host.config, ASKED, { ...starting, ask })).rejects.toMatchObject({
    code: 'changed_meanwhile',
  });
  expect(await host.file('etc', 'config.toml')).toBe('peers = 100\n');
});
