import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checksumOf } from '../host/file-hash.ts';
import type { AcquireOptions, RuntimeAdapter, WantedArtifact } from './runtime-adapter.ts';

/** How a test artifact behaves when it runs; `slow_to_stop` needs about a second after its stop signal. */
export type ArtifactBehaviour = 'runs' | 'crashes' | 'slow_to_stop';

/** One service on a real (or imitated) host; installed is an artifact that runs, and nothing is started. */
export interface ConformanceService {
  /** A new adapter on the same service, as a restarted agent has it. */
  readonly adapter: () => RuntimeAdapter;
  readonly installedChecksum: string;
  /** Makes an artifact, different from every other one, and offers it for download. */
  readonly offer: (behaviour: ArtifactBehaviour) => Promise<WantedArtifact>;
  /** An existing config with a mode of its own, and one that doesn't exist. */
  readonly configPath: string;
  readonly newConfigPath: string;
  readonly forbiddenPath: string;
  /** What a config is, as the host shows it: content and permission bits; null when it isn't there. */
  readonly readConfig: (path: string) => Promise<{ content: string; mode: number } | null>;
  readonly backupDir: string;
  /** Damages the binary's copy in a backup. */
  readonly damageBackup: (backupDir: string) => Promise<void>;
  /** Pids of all living instances, looked up on the host and not through the adapter. */
  readonly livePids: () => Promise<number[]>;
  /** The main process ends as by a crash. */
  readonly crash: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

const STABLE_MS = 300;
const CONFIG = Buffer.from('peers = 100\n');

/** The sentences of the contract in `runtime-adapter.ts`, each as a test; every adapter must pass all of them. */
export function describeRuntimeContract(name: string, makeService: () => Promise<ConformanceService>): void {
  describe(`the contract of a runtime adapter, kept by ${name}`, () => {
    let service: ConformanceService;
    let adapter: RuntimeAdapter;
    const soon = () => AbortSignal.timeout(20_000);
    const start = () => adapter.start({ signal: soon(), stableMs: STABLE_MS });
    const acquireOptions = (backupDirs: readonly string[] = []): AcquireOptions => ({
      signal: soon(),
      backupDirs,
      onProgress: () => undefined,
    });
    /** Acquires and installs a new artifact while the service is stopped, as an attempt with a backup of its own. */
    const install = async (behaviour: ArtifactBehaviour, backupDir = newBackupDir()) => {
      const artifact = await service.offer(behaviour);
      if (!(await adapter.isBackedUp(backupDir))) await adapter.backupState(backupDir, [], soon());
      const handle = await adapter.acquireArtifact(artifact, acquireOptions());
      await adapter.installArtifact(handle, backupDir, soon());
      return artifact;
    };
    let attempts = 0;
    const newBackupDir = () => `${service.backupDir}-${++attempts}`;

    beforeEach(async () => {
      service = await makeService();
      adapter = service.adapter();
      await adapter.prepare();
    });
    afterEach(() => service.dispose());

    describe('the service', () => {
      it('is stopped and not wanted before its first start', async () => {
        expect(await adapter.status()).toMatchObject({
          state: 'stopped',
          wantedRunning: false,
          held: false,
          mainPid: null,
          runningChecksum: null,
          installedChecksum: service.installedChecksum,
        });
      });

      it('runs the installed artifact after a start', async () => {
        await start();
        const status = await adapter.status();
        expect(status).toMatchObject({ state: 'running', wantedRunning: true, restarts: 0 });
        expect(status.runningChecksum).toBe(service.installedChecksum);
        expect(await service.livePids()).toContain(status.mainPid);
      });

      it('is not started twice: a start of a running service only watches it', async () => {
        await start();
        const { mainPid, mainPidStartedAt } = await adapter.status();
        await service.adapter().start({ signal: soon(), stableMs: STABLE_MS });
        expect(await adapter.status()).toMatchObject({ mainPid, mainPidStartedAt, restarts: 0 });
        expect(await service.livePids()).toEqual([mainPid]);
      });

      it('is gone after a stop, and another stop resolves at once', async () => {
        await start();
        await adapter.hold();
        await adapter.stop(soon());
        expect(await service.livePids()).toEqual([]);
        expect(await adapter.status()).toMatchObject({ state: 'stopped', wantedRunning: false, mainPid: null });
        await service.adapter().stop(soon());
      });

      it('comes back by itself after a crash, and the restart is counted', async () => {
        await start();
        await service.crash();
        await expect.poll(async () => (await adapter.status()).restarts, { timeout: 10_000 }).toBe(1);
        await expect.poll(async () => (await adapter.status()).state, { timeout: 10_000 }).toBe('running');
      });

      it('is wanted running while it waits for its next start after a crash', async () => {
        await install('crashes');
        await expect(start()).rejects.toMatchObject({ code: 'start_failed' });
        expect((await adapter.status()).wantedRunning).toBe(true);
      });

      it('says why a start failed, and can be stopped after it', async () => {
        await install('crashes');
        await expect(start()).rejects.toMatchObject({ code: 'start_failed', message: expect.stringMatching(/panic/) });
        await adapter.hold();
        await adapter.stop(soon());
        expect(await adapter.status()).toMatchObject({ state: 'stopped', held: true });
        expect(await service.livePids()).toEqual([]);
      });

      it('starts again after a failed start, whatever counted against it', async () => {
        await install('crashes');
        await expect(start()).rejects.toMatchObject({ code: 'start_failed' });
        await adapter.hold();
        await adapter.stop(soon());
        await install('runs');
        await start();
        expect(await adapter.status()).toMatchObject({ state: 'running', restarts: 0, held: false });
      });

      it('is never killed: a stop past its budget says so, and the process ends by itself (A7)', async () => {
        await install('slow_to_stop');
        await start();
        await adapter.hold();
        await expect(adapter.stop(AbortSignal.timeout(200))).rejects.toMatchObject({ code: 'stop_overrun' });
        expect(await service.livePids()).not.toEqual([]);
        expect((await adapter.status()).state).toBe('stopping');
        await service.adapter().waitUntilGone(soon());
        expect(await service.livePids()).toEqual([]);
        await expect.poll(async () => (await adapter.status()).state, { timeout: 10_000 }).toBe('stopped');
      });

      it('is not started beside an earlier instance that still stops (A19)', async () => {
        await install('slow_to_stop');
        await start();
        await adapter.hold();
        await expect(adapter.stop(AbortSignal.timeout(100))).rejects.toMatchObject({ code: 'stop_overrun' });
        await expect(service.adapter().start({ signal: soon(), stableMs: 50 })).rejects.toMatchObject({
          code: 'fence_violated',
        });
        expect(await service.livePids()).toHaveLength(1);
        await adapter.waitUntilGone(soon());
      });

      it('shows its last log lines since its start', async () => {
        await install('crashes');
        await expect(start()).rejects.toMatchObject({ code: 'start_failed' });
        const lines = await adapter.logTail(200);
        expect(lines.some((line) => line.includes('panic'))).toBe(true);
        expect((await adapter.logTail(1)).length).toBeLessThanOrEqual(1);
      });
    });

    describe('the hold', () => {
      it('is shown, and is set and released any number of times', async () => {
        await adapter.hold();
        await adapter.hold();
        expect((await service.adapter().status()).held).toBe(true);
        await adapter.release();
        await adapter.release();
        expect((await adapter.status()).held).toBe(false);
      });

      it('keeps a service down that crashes, until a deliberate start (A18a)', async () => {
        await start();
        const began = performance.now();
        await service.crash();
        await expect.poll(async () => (await adapter.status()).restarts, { timeout: 10_000 }).toBe(1);
        await expect.poll(service.livePids, { timeout: 10_000 }).toHaveLength(1);
        const restartMs = performance.now() - began;

        await adapter.hold();
        await service.crash();
        await sleep(3 * restartMs); // nothing shows that a restart will not come but that it has not come
        expect(await service.livePids()).toEqual([]);
        await adapter.stop(soon());
        await start();
        expect(await adapter.status()).toMatchObject({ state: 'running', held: false });
      });

      it('goes when the agent leaves, and the service goes on', async () => {
        await start();
        const { mainPid } = await adapter.status();
        await adapter.hold();
        await adapter.leave();
        await adapter.leave();
        expect(await adapter.status()).toMatchObject({ state: 'running', mainPid, held: false });
      });
    });

    describe('the artifact', () => {
      it('is found again once acquired, also by a restarted agent, and is gone when discarded', async () => {
        const artifact = await service.offer('runs');
        expect(await adapter.findAcquiredArtifact(artifact)).toBeNull();
        const handle = await adapter.acquireArtifact(artifact, acquireOptions());
        expect(await service.adapter().findAcquiredArtifact(artifact)).toEqual(handle);
        await adapter.verifyArtifact(handle, soon());
        await adapter.discardArtifact(artifact);
        await adapter.discardArtifact(artifact);
        expect(await adapter.findAcquiredArtifact(artifact)).toBeNull();
      });

      it('is refused when its checksum is another one, and nothing is found then', async () => {
        const artifact = { ...(await service.offer('runs')), checksum: checksumOf('something else') };
        await expect(adapter.acquireArtifact(artifact, acquireOptions())).rejects.toMatchObject({
          code: 'checksum_mismatch',
        });
        expect(await adapter.findAcquiredArtifact(artifact)).toBeNull();
      });

      it('is installed once, however often', async () => {
        const artifact = await service.offer('runs');
        await adapter.backupState(service.backupDir, [], soon());
        const handle = await adapter.acquireArtifact(artifact, acquireOptions());
        expect(await adapter.isArtifactInstalled(handle.installedChecksum)).toBe(false);
        await adapter.installArtifact(handle, service.backupDir, soon());
        await service.adapter().installArtifact(handle, service.backupDir, soon());
        expect(await adapter.isArtifactInstalled(handle.installedChecksum)).toBe(true);
        expect(await adapter.isArtifactInstalled(service.installedChecksum)).toBe(false);
      });

      it('runs only after a start: what is installed and what runs are two answers (A6)', async () => {
        await start();
        if (adapter.artifactKind === 'image') {
          // a container is made from its image for good: another one beside it would be a second instance
          await expect(install('runs')).rejects.toMatchObject({ code: 'fence_violated' });
          expect((await adapter.status()).runningChecksum).toBe(service.installedChecksum);
          return;
        }
        const { checksum } = await install('runs');
        const expected = { installedChecksum: checksum, runningChecksum: service.installedChecksum };
        expect(await adapter.status()).toMatchObject(expected);
        await adapter.hold();
        await adapter.stop(soon());
        await start();
        expect((await adapter.status()).runningChecksum).toBe(checksum);
      });
    });

    describe('the backup', () => {
      const backUp = () => adapter.backupState(service.backupDir, [service.configPath, service.newConfigPath], soon());

      it('is whole or not there', async () => {
        expect(await adapter.isBackedUp(service.backupDir)).toBe(false);
        await backUp();
        expect(await service.adapter().isBackedUp(service.backupDir)).toBe(true);
        await service.damageBackup(service.backupDir);
        expect(await adapter.isBackedUp(service.backupDir)).toBe(false);
      });

      it('brings back the artifact, however often', async () => {
        await backUp();
        await install('runs', service.backupDir);
        await adapter.restoreArtifact(service.backupDir, soon());
        await service.adapter().restoreArtifact(service.backupDir, soon());
        expect((await adapter.status()).installedChecksum).toBe(service.installedChecksum);
        await start();
        expect((await adapter.status()).runningChecksum).toBe(service.installedChecksum);
      });

      it('gives an artifact without the network (A12a)', async () => {
        await backUp();
        const { checksum } = await install('runs', service.backupDir);
        const back = newBackupDir();
        await adapter.backupState(back, [], soon());
        const artifact = {
          name: 'node',
          url: 'https://nowhere.invalid/node',
          checksum: service.installedChecksum,
          member: null,
        };
        const handle = await adapter.acquireArtifact(artifact, acquireOptions([service.backupDir]));
        await adapter.verifyArtifact(handle, soon());
        expect(await adapter.isArtifactInstalled(checksum)).toBe(true);
        await adapter.installArtifact(handle, back, soon());
        expect(await adapter.isArtifactInstalled(service.installedChecksum)).toBe(true);
      });

      it('is not used when it is damaged, and nothing is touched then (A12)', async () => {
        await backUp();
        const { checksum } = await install('runs', service.backupDir);
        await service.damageBackup(service.backupDir);
        await expect(adapter.restoreArtifact(service.backupDir, soon())).rejects.toMatchObject({
          code: 'backup_corrupt',
        });
        expect(await adapter.isArtifactInstalled(checksum)).toBe(true);
      });

      it('is confirmed any number of times', async () => {
        await backUp();
        await adapter.confirm(service.backupDir);
        await adapter.confirm(service.backupDir);
      });
    });

    describe('a config', () => {
      it('keeps its mode when it is replaced, and gets 0644 when it is new (A8)', async () => {
        const before = await service.readConfig(service.configPath);
        await adapter.writeConfig(service.configPath, CONFIG);
        await adapter.writeConfig(service.newConfigPath, CONFIG);
        expect(await service.readConfig(service.configPath)).toEqual({
          content: CONFIG.toString(),
          mode: before?.mode,
        });
        expect(await service.readConfig(service.newConfigPath)).toEqual({ content: CONFIG.toString(), mode: 0o644 });
        expect(await adapter.isConfigWritten(service.configPath, checksumOf(CONFIG))).toBe(true);
        expect(await adapter.configChecksum(service.newConfigPath)).toBe(checksumOf(CONFIG));
      });

      it('is as it was after a restore, and one that was new is gone, however often', async () => {
        const before = await service.readConfig(service.configPath);
        await adapter.backupState(service.backupDir, [service.configPath, service.newConfigPath], soon());
        await adapter.writeConfig(service.configPath, CONFIG);
        await adapter.writeConfig(service.newConfigPath, CONFIG);
        for (const path of [service.configPath, service.newConfigPath, service.configPath, service.newConfigPath]) {
          await service.adapter().restoreConfig(service.backupDir, path);
        }
        expect(await service.readConfig(service.configPath)).toEqual(before);
        expect(await service.readConfig(service.newConfigPath)).toBeNull();
        expect(await adapter.configChecksum(service.newConfigPath)).toBeNull();
      });

      it('outside the configured roots is refused before anything is done (A9)', async () => {
        const refused = { code: 'path_refused' };
        await expect(adapter.writeConfig(service.forbiddenPath, CONFIG)).rejects.toMatchObject(refused);
        const backup = adapter.backupState(service.backupDir, [service.forbiddenPath], soon());
        await expect(backup).rejects.toMatchObject(refused);
        await expect(adapter.configChecksum(service.forbiddenPath)).rejects.toMatchObject(refused);
        expect(await adapter.isBackedUp(service.backupDir)).toBe(false);
      });
    });
  });
}

/** Writes a file and the folders above it. */
export async function writeWithFolders(path: string, content: string | Buffer, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { mode });
}

/** Where a backup keeps its copy of the binary. */
export function backupCopy(backupDir: string, binary: string): string {
  return join(backupDir, 'binaries', binary);
}
