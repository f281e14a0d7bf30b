import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledProgram } from '@hoodcloud/testkit/bundled-program';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { FileHashes } from '../../host/file-hash.ts';
import { isAlive } from '../../host/process-table.ts';
import { writeWithFolders } from '../conformance.ts';
import { TEST_NODE_SCRIPT, testArtifact } from '../test-artifacts.ts';
import { ProcessService } from './process-service.ts';
import { ServiceFiles } from './service-files.ts';
import { tailOfLog } from './service-log.ts';
import { processesOfService } from './service-processes.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let bundles: string;
let folder: string;
let binary: string;
let files: ServiceFiles;
beforeAll(async () => {
  bundles = await mkdtemp(join(tmpdir(), 'hoodcloud-supervisor-'));
  const program = await bundledProgram(new URL('./supervisor-main.ts', import.meta.url));
  await writeFile(join(bundles, 'supervisor.mjs'), program);
});
afterAll(() => rm(bundles, { recursive: true, force: true }));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hoodcloud-service-'));
  binary = join(folder, 'node');
  files = new ServiceFiles(join(folder, 'service'));
  await writeWithFolders(binary, await testArtifact('runs'), 0o755);
  await writeWithFolders(join(folder, 'node.sh'), TEST_NODE_SCRIPT, 0o644);
});
afterEach(async () => {
  await service().shutDown(AbortSignal.timeout(20_000));
  for (const { pid } of await processesOfService(files.folder)) process.kill(pid, 'SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

function service(changes: { logMaxBytes?: number; env?: Record<string, string>; autostart?: boolean } = {}) {
  return new ProcessService({
    folder: files.folder,
    name: 'node',
    nodeFiles: { installPath: binary, dataDir: join(folder, 'data') },
    autostart: changes.autostart ?? true,
    hashes: new FileHashes(),
    supervisorCommand: [process.execPath, join(bundles, 'supervisor.mjs')],
    spec: {
      command: [binary, join(folder, 'node.sh')],
      cwd: folder,
      env: changes.env ?? {},
      user: null,
      stopSignal: 'SIGTERM',
      restartDelayMs: 100,
      logMaxBytes: changes.logMaxBytes ?? 1 << 20,
    },
  });
}

const status = () => service().status(null, binary);
const start = () => service().start({ signal: AbortSignal.timeout(20_000), stableMs: 200 });

async function killSupervisor(): Promise<void> {
  const state = await files.readState();
  if (state === null) throw new Error('no supervisor');
  process.kill(state.supervisor.pid, 'SIGKILL');
  await expect.poll(() => isAlive(state.supervisor)).toBe(false);
}

it('starts the node with the agent, unless an operator has stopped it', async () => {
  await service().prepare();
  await expect.poll(async () => (await status()).state, { timeout: 20_000 }).toBe('running');
  await service().stop(AbortSignal.timeout(20_000));
  await service().prepare();
  expect(await status()).toMatchObject({ state: 'stopped', wantedRunning: false });
});

it('leaves the node alone when it is killed, and the next one takes it over', async () => {
  await service().prepare();
  await start();
  const { mainPid } = await status();
  await killSupervisor();
  expect((await processesOfService(files.folder)).map(({ pid }) => pid)).toContain(mainPid);
  await service().prepare();
  await expect.poll(async () => (await status()).state, { timeout: 20_000 }).toBe('running');
  expect(await status()).toMatchObject({ mainPid, restarts: 0 });
  // what it took over it also brings back, and stops
  process.kill(mainPid ?? 0, 'SIGKILL');
  await expect.poll(async () => (await status()).restarts, { timeout: 20_000 }).toBe(1);
  await expect.poll(async () => (await status()).state, { timeout: 20_000 }).toBe('running');
});

it('finds a node whose supervisor died before it could note its pid, and starts no second one (A19)', async () => {
  await service().prepare();
  await start();
  const { mainPid } = await status();
  await killSupervisor();
  const state = await files.readState();
  if (state !== null) await files.writeState({ ...state, child: null });
  await service().prepare();
  await expect.poll(async () => (await status()).mainPid, { timeout: 20_000 }).toBe(mainPid);
  const lines = (await readFile(files.logPath, 'utf8')).split('\n');
  expect(lines.filter((line) => line === 'node starts')).toHaveLength(1);
});

it('is not started beside an instance that somebody runs by hand on its data (A19)', async () => {
  await service().prepare();
  await start();
  await mkdir(join(folder, 'data'));
  const byHand = spawn(binary, ['-c', `exec 9>>${folder}/data/LOCK; echo; while :; do sleep 0.1; done`]);
  await once(byHand.stdout, 'data');
  const refused = { code: 'fence_violated', message: expect.stringContaining(`pid ${byHand.pid}`) };
  await expect(service().requireReady()).rejects.toMatchObject(refused);
  await service().hold();
  await service().stop(AbortSignal.timeout(20_000));
  await expect(start()).rejects.toMatchObject(refused);
  expect(await status()).toMatchObject({ state: 'stopped', mainPid: null });
  byHand.kill('SIGKILL');
  await once(byHand, 'exit');
  await start();
});

it('starts nothing after a power cut in the middle of a change: the hold file stands (A18a)', async () => {
  await service().prepare();
  await start();
  await service().hold();
  await killSupervisor();
  for (const { pid } of await processesOfService(files.folder)) process.kill(pid, 'SIGKILL');
  await writeFile(join(files.folder, 'state.json'), ''); // it was never fsynced
  await service().prepare();
  await expect.poll(async () => (await files.readState())?.phase, { timeout: 20_000 }).toBe('held');
  expect(await processesOfService(files.folder)).toEqual([]);
  expect(await status()).toMatchObject({ state: 'waiting_restart', wantedRunning: true, held: true });
  await start();
  expect(await status()).toMatchObject({ state: 'running', held: false });
});

it('is one at a time per service', async () => {
  await service({ autostart: false }).prepare();
  await files.writeDesired({ run: true, generation: 1 });
  await Promise.all([service().prepare(), service().prepare(), service().prepare()]);
  await start();
  // the node and its sleep, once its script has come to that
  await expect.poll(() => processesOfService(files.folder), { timeout: 20_000 }).toHaveLength(2);
});

it('gives the node the environment of its configuration and a clean one otherwise', async () => {
  process.env.AGENT_SECRET = 'not for the node';
  await service({ env: { LEVEL: '3' } }).prepare();
  await expect.poll(async () => (await status()).mainPid, { timeout: 20_000 }).not.toBeNull();
  delete process.env.AGENT_SECRET;
  const environment = (await readFile(`/proc/${(await status()).mainPid}/environ`, 'utf8')).split('\0');
  expect(environment).toContain('LEVEL=3');
  expect(environment.join()).not.toContain('AGENT_SECRET');
});

it('keeps the log within its limit', async () => {
  await service({ logMaxBytes: 1000 }).prepare();
  await expect.poll(async () => (await status()).state, { timeout: 20_000 }).toBe('running');
  await writeFile(files.logPath, `${'x'.repeat(99)}\n`.repeat(20), { flag: 'a' });
  await expect
    .poll(async () => (await readFile(`${files.logPath}.1`, 'utf8').catch(() => '')).length, { timeout: 20_000 })
    .toBeGreaterThan(2000);
  await expect.poll(() => tailOfLog(files.logPath, 10), { timeout: 20_000 }).toEqual([]); // emptied after the copy
});
