import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArtifactKind, CommandType, Operation, Outcome } from '@hoodcloud/contracts/wire/agent-v1';
import { UPGRADE_ACTION_NAMES } from '@hoodcloud/domain/upgrade-phase';
import { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseAgentConfig } from './agent-config.ts';
import { storeCredential } from './agent-credential.ts';
import { checksumOf, hashFile } from './host/file-hash.ts';
import { nodeStop } from './node-commands.ts';
import { writeWithFolders } from './runtime/conformance.ts';
import { processesOfService } from './runtime/process/service-processes.ts';
import { TEST_NODE_SCRIPT, testArtifact } from './runtime/test-artifacts.ts';
import { bundleAgentProgram } from './testing/bundle-agent.ts';
import { TestGateway } from './testing/test-gateway.ts';

/**
 * The shipped agent, killed with SIGKILL from outside at every fault point of the eight actions and their undo, under
 * the process runtime. What is judged afterwards is what /proc, the files and the node's own log show.
 */
const POINTS = UPGRADE_ACTION_NAMES.flatMap((name) => [`before:${name}`, `after:${name}`]);
const UNDO_POINTS = UPGRADE_ACTION_NAMES.flatMap((name) => [`before-undo:${name}`, `after-undo:${name}`]);
const OLD_CONFIG = 'peers = 10\n';
const NEW_CONFIG = 'peers = 100\n';
/** Each cell's agent log is kept here. */
const LOGS = process.env.HOODCLOUD_CRASH_LOGS ?? join(tmpdir(), 'hoodcloud-crash-logs');

const table: Record<string, { runs: string; config: string; stops: number; starts: number; results: number }> = {};
let bundle: string;
let folder: string;
let gateway: TestGateway;
let artifacts: ArtifactServer;
let agent: ChildProcess;

beforeAll(async () => {
  await mkdir(LOGS, { recursive: true });
  bundle = join(await mkdtemp(join(tmpdir(), 'hoodcloud-bundle-')), 'hoodcloud-agent.mjs');
  await bundleAgentProgram(new URL('./bin/hoodcloud-agent.ts', import.meta.url), bundle);
});
afterAll(async () => {
  console.table(table);
  await rm(join(bundle, '..'), { recursive: true, force: true });
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-crash-'));
  gateway = new TestGateway();
  await gateway.listen();
  artifacts = await ArtifactServer.listen();
  await writeWithFolders(paths().binary, await testArtifact('runs'), 0o755);
  await writeWithFolders(paths().script, TEST_NODE_SCRIPT, 0o644);
  await writeWithFolders(paths().config, OLD_CONFIG, 0o640);
  await writeWithFolders(paths().agentConfig, JSON.stringify(agentConfig()), 0o600);
  await storeCredential(paths().state, { nodeId: 'node-id', nodeName: 'validator-1', credential: 'secret' });
});

afterEach(async () => {
  agent.kill('SIGKILL');
  await nodeStop(parseAgentConfig('agent.yaml', JSON.stringify(agentConfig())), 'node', true);
  gateway.server.forceShutdown();
  await artifacts.close();
  await rm(folder, { recursive: true, force: true });
});

const paths = () => ({
  binary: join(folder, 'bin', 'node'),
  script: join(folder, 'node.sh'),
  config: join(folder, 'etc', 'config.toml'),
  agentConfig: join(folder, 'agent.yaml'),
  state: join(folder, 'state'),
  service: join(folder, 'state', 'process', 'node'),
  fault: join(folder, 'fault'),
});

function agentConfig() {
  return {
    control_plane: { address: `127.0.0.1:${gateway.port}` },
    state_dir: paths().state,
    allow_http_hosts: ['127.0.0.1'],
    components: [
      {
        binary_name: 'node',
        install_path: paths().binary,
        data_dir: join(folder, 'data'),
        config_roots: [join(folder, 'etc')],
        runtime: { type: 'process', command: [paths().binary, paths().script], restart_delay_ms: 200 },
      },
    ],
  };
}

/** Starts the agent as a service manager would; its log goes to the cell's file. */
function startAgent(point: string): void {
  const env = { ...process.env, HOODCLOUD_FAULT: point, HOODCLOUD_FAULT_FILE: paths().fault };
  agent = spawn(process.execPath, [bundle, 'run', '--config', paths().agentConfig], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  agent.stderr?.pipe(createWriteStream(join(LOGS, `${point.replaceAll(':', '-')}.log`), { flags: 'a' }));
}

/** Killed in the middle of what the point names, the agent comes back and tells one result. */
async function killAndReturn(point: string, behaviour: 'runs' | 'crashes', operation: 'UPGRADE' | 'COMPENSATE') {
  startAgent(point);
  await expect.poll(() => gateway.all('heartbeat').at(-1)?.components[0]?.active, { timeout: 30_000 }).toBe(true);
  const content = await testArtifact(behaviour);
  const upgrade = {
    attemptId: 'attempt-1',
    binaryName: 'node',
    artifact: { kind: ArtifactKind.FILE, url: artifacts.publish('new', content), checksum: checksumOf(content) },
    configFiles: [{ path: paths().config, content: Buffer.from(NEW_CONFIG) }],
    budgets: { stableMs: 300 },
  };
  const order = (which: 'UPGRADE' | 'COMPENSATE') =>
    gateway.command({
      commandId: `command-${which}`,
      type: CommandType.UPGRADE,
      expiresInMs: 60_000,
      upgrade: { ...upgrade, operation: Operation[which] },
    });
  order('UPGRADE');
  if (operation === 'COMPENSATE') {
    await expect.poll(() => gateway.all('commandResult').length, { timeout: 30_000 }).toBe(1);
    order('COMPENSATE');
  }
  await expect.poll(() => readFile(paths().fault, 'utf8').catch(() => ''), { timeout: 30_000 }).toContain(point);
  const pid = Number((await readFile(paths().fault, 'utf8')).split(' ')[1]);
  expect(pid).toBe(agent.pid);
  process.kill(pid, 'SIGKILL');
  await once(agent, 'exit');
  startAgent(point);
  const told = () => gateway.all('commandResult').filter(({ commandId }) => commandId === `command-${operation}`);
  await expect.poll(() => told().length, { timeout: 40_000 }).toBeGreaterThan(0);
  return { checksum: checksumOf(content), result: told().at(-1) };
}

/** What the host shows, without asking the agent. */
async function hostNow() {
  const processes = await processesOfService(paths().service);
  const commands = await Promise.all(
    processes.map(async ({ pid }) => ({ pid, line: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') })),
  );
  const instances = commands.filter(({ line }) => line.includes(paths().script)).map(({ pid }) => pid);
  const log = await readFile(join(paths().service, 'node.log'), 'utf8');
  return {
    instances: instances.length,
    running: instances[0] === undefined ? null : await hashFile(`/proc/${instances[0]}/exe`),
    installed: await hashFile(paths().binary),
    config: await readFile(paths().config, 'utf8'),
    stops: log.split('node stops').length - 1,
    starts: log.split('node starts').length - 1,
  };
}

async function judge(point: string, wanted: { running: string; config: string; maxStops: number }): Promise<void> {
  await expect.poll(async () => (await hostNow()).instances, { timeout: 10_000 }).toBe(1);
  const now = await hostNow();
  const results = new Set(gateway.all('commandResult').map(({ commandId }) => commandId)).size;
  const runs = now.running === wanted.running ? 'as wanted' : String(now.running);
  table[point] = { runs, config: now.config.trim(), stops: now.stops, starts: now.starts, results };
  expect(now).toMatchObject({ running: wanted.running, installed: wanted.running, config: wanted.config });
  expect(now.stops).toBeLessThanOrEqual(wanted.maxStops);
}

describe('an agent killed in an upgrade is back and the node runs the new version, stopped once', () => {
  it.each([...POINTS, 'before-outcome', 'after-outcome'])('%s', async (point) => {
    const { checksum, result } = await killAndReturn(point, 'runs', 'UPGRADE');
    expect(result).toMatchObject({ outcome: Outcome.COMPLETED, runningChecksum: checksum });
    await judge(point, { running: checksum, config: NEW_CONFIG, maxStops: 1 });
  });
});

describe('an agent killed while it undoes a bad release is back and the node runs the old version', () => {
  it.each(['before-undo', ...UNDO_POINTS])('%s', async (point) => {
    const old = await hashFile(paths().binary);
    const { result } = await killAndReturn(point, 'crashes', 'UPGRADE');
    expect(result).toMatchObject({ outcome: Outcome.ROLLED_BACK, errorCode: 'start_failed', runningChecksum: old });
    await judge(point, { running: old, config: OLD_CONFIG, maxStops: 1 });
  });
});

describe('an agent killed while it undoes an upgrade that failed its validation (COMPENSATE) is back, old version running', () => {
  it.each(['before-undo:start_node', 'after-undo:start_node', 'after-undo:install_artifact', 'before-undo:stop_node'])(
    '%s, ordered',
    async (point) => {
      const old = await hashFile(paths().binary);
      const { result } = await killAndReturn(point, 'runs', 'COMPENSATE');
      expect(result).toMatchObject({ outcome: Outcome.ROLLED_BACK, runningChecksum: old });
      await judge(`${point}, ordered`, { running: old, config: OLD_CONFIG, maxStops: 2 });
    },
  );
});
