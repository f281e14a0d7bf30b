import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import {
  ArtifactKind,
  type Command,
  CommandSchema,
  CommandType,
  Operation,
  Outcome,
} from '@hoodcloud/contracts/wire/agent-v1';
import { AGENT_BINARY_NAME } from '@hoodcloud/domain/agent-binary';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type AgentConfig, parseAgentConfig } from '../agent-config.ts';
import { newProgress } from '../upgrade/attempt-progress.ts';
import type { AttemptRecord } from '../upgrade/attempt-record.ts';
import { AttemptStore } from '../upgrade/attempt-store.ts';
import { HandedOrders } from './handed-order.ts';
import { hadSession, markSession } from './session-mark.ts';
import { upgradeAgent } from './upgrade-agent.ts';

const log = pino({ level: 'silent' });
let folder: string;
let config: AgentConfig;
let orders: HandedOrders;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-self-upgrade-'));
  config = parseAgentConfig(
    'agent.yaml',
    JSON.stringify({
      control_plane: { address: '127.0.0.1:1' },
      state_dir: folder,
      components: [
        {
          binary_name: AGENT_BINARY_NAME,
          install_path: join(folder, 'installed'),
          data_dir: folder,
          runtime: { type: 'systemd', unit: 'hoodcloud-agent.service' },
        },
      ],
    }),
  );
  await writeFile(join(folder, 'installed'), 'the agent that is installed');
  orders = new HandedOrders(folder);
  await orders.create();
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const command = (fields: { expiresInMs?: number } = {}): Command =>
  create(CommandSchema, {
    commandId: 'command-1',
    type: CommandType.UPGRADE,
    expiresInMs: 60_000,
    upgrade: {
      attemptId: 'attempt-1',
      operation: Operation.UPGRADE,
      binaryName: AGENT_BINARY_NAME,
      targetVersion: '2',
      artifact: { kind: ArtifactKind.FILE, url: 'https://example.org/agent', checksum: `sha256:${'a'.repeat(64)}` },
    },
    ...fields,
  });

const openRecord = (): AttemptRecord => ({
  format: 1,
  attemptId: 'attempt-1',
  binaryName: AGENT_BINARY_NAME,
  payload: {},
  before: { wantedRunning: true, mainPid: 1, mainPidStartedAt: 1, installedChecksum: null, runningChecksum: null },
  progress: newProgress(),
  outcome: null,
  operations: { UPGRADE: { commandId: 'command-1', deadlineAtMs: 0, result: null, acknowledged: false } },
  logTail: [],
  confirmed: false,
  createdAtMs: 1,
});

it('drops the order of an earlier installation and touches nothing (field-case 13)', async () => {
  const store = await AttemptStore.open(folder, () => undefined);
  await store.save(openRecord());
  await orders.give({ command: command(), deadlineAtMs: Date.now() + 60_000, installId: 'the one before' });
  await upgradeAgent(config, log);
  expect(await orders.order()).toBeNull();
  expect(existsSync(join(folder, 'self-upgrade'))).toBe(false);
  expect((await store.load('attempt-1'))?.operations).toEqual({});
  expect(await readFile(join(folder, 'installed'), 'utf8')).toBe('the agent that is installed');
});

it('answers an order whose deadline has passed before it was begun with a refusal, for whichever agent is there', async () => {
  await orders.give({ command: command(), deadlineAtMs: Date.now() - 1, installId: await orders.installId() });
  await upgradeAgent(config, log);
  expect(await orders.result()).toMatchObject({
    commandId: 'command-1',
    outcome: Outcome.REFUSED,
    errorCode: 'expired',
  });
  const answered = await orders.result();
  await upgradeAgent(config, log); // started again at boot
  expect(await orders.result()).toEqual(answered);
});

it('sets an order aside that a faulty disk made unreadable, and ends (field-cases 1, 3)', async () => {
  await writeFile(join(folder, 'self-upgrade', 'order.json'), '\0\0\0');
  await upgradeAgent(config, log);
  expect(await orders.order()).toBeNull();
  expect(existsSync(join(folder, 'self-upgrade', 'order.json.unreadable'))).toBe(true);
});

it('is done once at a time, whoever starts it (field-case 10)', async () => {
  await orders.give({ command: command(), deadlineAtMs: Date.now() - 1, installId: await orders.installId() });
  const both = await Promise.allSettled([upgradeAgent(config, log), upgradeAgent(config, log)]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(both.find((one) => one.status === 'rejected')).toMatchObject({ reason: { code: 'already_running' } });
});

it('takes only the session of the very process as proof that it came back (field-case 126)', async () => {
  expect(await hadSession(folder, process.pid, 1)).toBe(false);
  await markSession(folder);
  const { startedAt } = JSON.parse(await readFile(join(folder, 'session.json'), 'utf8'));
  expect(await hadSession(folder, process.pid, startedAt)).toBe(true);
  expect(await hadSession(folder, process.pid, startedAt + 1)).toBe(false); // the pid was given to a later process
  expect(await hadSession(folder, process.pid + 1, startedAt)).toBe(false);
});
