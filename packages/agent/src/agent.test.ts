import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArtifactKind, CommandType, Operation, Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { runAgent } from './agent.ts';
import { type AgentConfig, parseAgentConfig } from './agent-config.ts';
import { loadCredential } from './agent-credential.ts';
import { checksumOf } from './host/file-hash.ts';
import { joinHost, leaveHost } from './membership.ts';
import { nodeStop } from './node-commands.ts';
import { writeWithFolders } from './runtime/conformance.ts';
import { TEST_NODE_SCRIPT, testArtifact } from './runtime/test-artifacts.ts';
import { TestGateway } from './testing/test-gateway.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

let folder: string;
let gateway: TestGateway;
let artifacts: ArtifactServer;
let config: AgentConfig;
let ending: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-agent-'));
  gateway = new TestGateway();
  await gateway.listen();
  artifacts = await ArtifactServer.listen();
  const installPath = join(folder, 'bin', 'node');
  await writeWithFolders(installPath, await testArtifact('runs'), 0o755);
  await writeWithFolders(join(folder, 'node.sh'), TEST_NODE_SCRIPT, 0o644);
  await writeWithFolders(join(folder, 'etc', 'config.toml'), 'peers = 10\n', 0o640);
  config = parseAgentConfig(
    'agent.yaml',
    JSON.stringify({
      control_plane: { address: `127.0.0.1:${gateway.port}` },
      state_dir: join(folder, 'state'),
      allow_http_hosts: ['127.0.0.1'],
      components: [
        {
          binary_name: 'node',
          install_path: installPath,
          data_dir: join(folder, 'data'),
          config_roots: [join(folder, 'etc')],
          runtime: { type: 'process', command: [installPath, join(folder, 'node.sh')], restart_delay_ms: 200 },
        },
      ],
    }),
  );
  ending = new AbortController();
  running = Promise.resolve();
});

afterEach(async () => {
  ending.abort();
  await running;
  await nodeStop(config, 'node', true);
  gateway.server.forceShutdown();
  await artifacts.close();
  await rm(folder, { recursive: true, force: true });
});

async function joinAndRun(): Promise<void> {
  await joinHost(config, 'good-token', () => undefined);
  running = runAgent(config, pino({ level: 'silent' }), ending.signal);
  await expect.poll(() => gateway.all('heartbeat').at(-1)?.components[0]?.active, { timeout: 40_000 }).toBe(true);
}

async function upgradeCommand(attemptId: string, behaviour: 'runs' | 'crashes') {
  const content = await testArtifact(behaviour);
  const checksum = checksumOf(content);
  const upgrade = {
    attemptId,
    operation: Operation.UPGRADE,
    binaryName: 'node',
    artifact: { kind: ArtifactKind.FILE, url: artifacts.publish(attemptId, content), checksum },
    configFiles: [{ path: join(folder, 'etc', 'config.toml'), content: Buffer.from('peers = 100\n') }],
    budgets: { stableMs: 300 },
  };
  const command = { commandId: `command-${attemptId}`, type: CommandType.UPGRADE, expiresInMs: 60_000, upgrade };
  return { checksum, message: { case: 'command', value: command } as const };
}

it('joins by a token once, keeps its credential to itself, and leaves', async () => {
  const said: string[] = [];
  await joinHost(config, 'good-token', (line) => said.push(line));
  expect(said.join()).toContain('validator-1');
  expect(await loadCredential(config.state_dir)).toEqual({
    nodeId: 'node-id',
    nodeName: 'validator-1',
    credential: 'secret',
  });
  expect((await stat(join(config.state_dir, 'credential.json'))).mode & 0o777).toBe(0o600);
  await expect(joinHost(config, 'good-token', () => undefined)).rejects.toMatchObject({ code: 'already_joined' });
  await leaveHost(config, { force: false, keepCredential: false }, () => undefined);
  expect(await loadCredential(config.state_dir)).toBeNull();
  await expect(joinHost(config, 'good-token', () => undefined)).rejects.toMatchObject({
    code: 'join_refused',
    message: expect.stringContaining('used already'),
  });
});

it('does not run on a host that has not joined', async () => {
  await expect(runAgent(config, pino({ level: 'silent' }), ending.signal)).rejects.toMatchObject({
    code: 'not_joined',
  });
});

it('reports what runs, upgrades it by a command, and tells the result until it is acknowledged', async () => {
  await joinAndRun();
  expect(gateway.credentials[0]).toBe('Bearer secret');
  const old = gateway.all('hello')[0]?.components[0]?.installedChecksum;
  expect(old).toMatch(/^sha256:/);

  const { checksum, message } = await upgradeCommand('attempt-1', 'runs');
  gateway.say(message);
  await expect.poll(() => gateway.all('commandResult').length, { timeout: 40_000 }).toBe(1);
  expect(gateway.all('commandAck')[0]?.commandId).toBe('command-attempt-1');
  expect(gateway.all('commandResult')[0]).toMatchObject({
    outcome: Outcome.COMPLETED,
    installedChecksum: checksum,
    runningChecksum: checksum,
  });
  expect(gateway.all('commandResult')[0]?.downtimeMs).toBeGreaterThan(0);
  const phases = [...new Set(gateway.all('commandProgress').map(({ phase }) => phase))];
  expect(phases).toEqual(['PREPARING', 'STOPPED', 'MUTATING', 'STARTING']);
  expect(await readFile(join(folder, 'etc', 'config.toml'), 'utf8')).toBe('peers = 100\n');

  // not acknowledged: the next session hears of it first thing
  gateway.sessions.at(-1)?.end();
  await expect.poll(() => gateway.all('commandResult').length, { timeout: 20_000 }).toBe(2);
  expect(gateway.all('hello')[1]?.openAttemptIds).toEqual(['attempt-1']);
  gateway.say({ case: 'resultAck', value: { commandId: 'command-attempt-1' } });
  await expect
    .poll(async () => JSON.parse(await readFile(join(config.state_dir, 'attempts', 'attempt-1.json'), 'utf8')))
    .toMatchObject({ operations: { UPGRADE: { acknowledged: true } } });
  gateway.sessions.at(-1)?.end();
  await expect.poll(() => gateway.sessions.length, { timeout: 20_000 }).toBe(3);
  expect(gateway.all('hello')[2]?.openAttemptIds).toEqual([]);
  await expect
    .poll(() => gateway.all('heartbeat').at(-1)?.components[0])
    .toMatchObject({
      runningChecksum: checksum,
      configChecksums: { [join(folder, 'etc', 'config.toml')]: checksumOf('peers = 100\n') },
    });
  expect(gateway.all('commandResult')).toHaveLength(2);
});

it('puts the old version back when the new one crashes, and tells its last words (A18)', async () => {
  await joinAndRun();
  const { runningChecksum: old, mainPid } = gateway.all('heartbeat').at(-1)?.components[0] ?? {};
  const { message } = await upgradeCommand('attempt-1', 'crashes');
  gateway.say(message);
  await expect.poll(() => gateway.all('commandResult').length, { timeout: 40_000 }).toBe(1);
  expect(gateway.all('commandResult')[0]).toMatchObject({
    outcome: Outcome.ROLLED_BACK,
    errorCode: 'start_failed',
    failedAction: 'start_node',
    runningChecksum: old,
    logTail: expect.arrayContaining(['panic: bad data']),
  });
  expect(await readFile(join(folder, 'etc', 'config.toml'), 'utf8')).toBe('peers = 10\n');
  await expect.poll(() => gateway.all('heartbeat').at(-1)?.components[0]?.runningChecksum).toBe(old);
  expect(gateway.all('heartbeat').at(-1)?.components[0]?.mainPid).not.toBe(mainPid);
});

it('leaves the node running when it ends, and takes it over when it is back (field-case 14)', async () => {
  await joinAndRun();
  const mainPid = gateway.all('heartbeat').at(-1)?.components[0]?.mainPid;
  ending.abort();
  await running;
  ending = new AbortController();
  running = runAgent(config, pino({ level: 'silent' }), ending.signal);
  await expect.poll(() => gateway.all('hello').length, { timeout: 20_000 }).toBe(2);
  expect(gateway.all('hello')[1]?.components[0]).toMatchObject({ active: true, mainPid, restarts: 0 });
  expect(gateway.all('hello')[1]?.instanceNonce).not.toBe(gateway.all('hello')[0]?.instanceNonce);
});

it('runs once per state folder (field-case 10)', async () => {
  await joinAndRun();
  await expect(runAgent(config, pino({ level: 'silent' }), ending.signal)).rejects.toMatchObject({
    code: 'already_running',
  });
});
