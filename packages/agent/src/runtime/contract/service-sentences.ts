import { expect } from 'vitest';
import type { ContractSentence } from './contract-sentence.ts';

const STABLE_MS = 300;

/** How a service is started, stopped and looked at. */
export const SERVICE_SENTENCES: readonly ContractSentence[] = [
  {
    says: 'is stopped and not wanted before its first start',
    holds: async ({ service, adapter }) => {
      expect(await adapter.status()).toMatchObject({
        state: 'stopped',
        wantedRunning: false,
        held: false,
        mainPid: null,
        runningChecksum: null,
        installedChecksum: service.installedChecksum,
      });
    },
  },
  {
    says: 'runs the installed artifact after a start',
    holds: async ({ service, adapter, start }) => {
      await start();
      const status = await adapter.status();
      expect(status).toMatchObject({ state: 'running', wantedRunning: true, restarts: 0 });
      expect(status.runningChecksum).toBe(service.installedChecksum);
      expect(await service.livePids()).toContain(status.mainPid);
    },
  },
  {
    says: 'is not started twice: a start of a running service only watches it',
    holds: async ({ service, adapter, soon, start }) => {
      await start();
      const { mainPid, mainPidStartedAt } = await adapter.status();
      await service.adapter().start({ signal: soon(), stableMs: STABLE_MS });
      expect(await adapter.status()).toMatchObject({ mainPid, mainPidStartedAt, restarts: 0 });
      expect(await service.livePids()).toEqual([mainPid]);
    },
  },
  {
    says: 'is gone after a stop, and another stop resolves at once',
    holds: async ({ service, adapter, soon, start }) => {
      await start();
      await adapter.hold();
      await adapter.stop(soon());
      expect(await service.livePids()).toEqual([]);
      expect(await adapter.status()).toMatchObject({ state: 'stopped', wantedRunning: false, mainPid: null });
      await service.adapter().stop(soon());
    },
  },
  {
    says: 'comes back by itself after a crash, and the restart is counted',
    holds: async ({ service, adapter, start, patienceMs }) => {
      await start();
      await service.crash();
      await expect.poll(async () => (await adapter.status()).restarts, { timeout: patienceMs }).toBe(1);
      await expect.poll(async () => (await adapter.status()).state, { timeout: patienceMs }).toBe('running');
    },
  },
  {
    says: 'is wanted running while it waits for its next start after a crash',
    holds: async ({ adapter, start, install }) => {
      await install('crashes');
      await expect(start()).rejects.toMatchObject({ code: 'start_failed' });
      expect((await adapter.status()).wantedRunning).toBe(true);
    },
  },
  {
    says: 'says why a start failed, and can be stopped after it',
    holds: async ({ service, adapter, soon, start, install }) => {
      await install('crashes');
      await expect(start()).rejects.toMatchObject({ code: 'start_failed', message: expect.stringMatching(/panic/) });
      await adapter.hold();
      await adapter.stop(soon());
      expect(await adapter.status()).toMatchObject({ state: 'stopped', held: true });
      expect(await service.livePids()).toEqual([]);
    },
  },
  {
    says: 'starts again after a failed start, whatever counted against it',
    holds: async ({ adapter, soon, start, install }) => {
      await install('crashes');
      await expect(start()).rejects.toMatchObject({ code: 'start_failed' });
      await adapter.hold();
      await adapter.stop(soon());
      await install('runs');
      await start();
      expect(await adapter.status()).toMatchObject({ state: 'running', restarts: 0, held: false });
    },
  },
  {
    says: 'is never killed: a stop past its budget says so, and the process ends by itself (A7)',
    holds: async ({ service, adapter, soon, start, install, patienceMs }) => {
      await install('slow_to_stop');
      await start();
      await adapter.hold();
      await expect(adapter.stop(AbortSignal.timeout(200))).rejects.toMatchObject({ code: 'stop_overrun' });
      expect(await service.livePids()).not.toEqual([]);
      expect((await adapter.status()).state).toBe('stopping');
      await service.letStop();
      await service.adapter().waitUntilGone(soon());
      expect(await service.livePids()).toEqual([]);
      await expect.poll(async () => (await adapter.status()).state, { timeout: patienceMs }).toBe('stopped');
    },
  },
  {
    says: 'is not started beside an earlier instance that still stops (A19)',
    holds: async ({ service, adapter, soon, start, install }) => {
      await install('slow_to_stop');
      await start();
      await adapter.hold();
      await expect(adapter.stop(AbortSignal.timeout(100))).rejects.toMatchObject({ code: 'stop_overrun' });
      await expect(service.adapter().start({ signal: soon(), stableMs: 50 })).rejects.toMatchObject({
        code: 'fence_violated',
      });
      expect(await service.livePids()).toHaveLength(1);
      await service.letStop();
      await adapter.waitUntilGone(soon());
    },
  },
  {
    says: 'shows its last log lines since its start',
    holds: async ({ adapter, start, install }) => {
      await install('crashes');
      await expect(start()).rejects.toMatchObject({ code: 'start_failed' });
      const lines = await adapter.logTail(200);
      expect(lines.some((line) => line.includes('panic'))).toBe(true);
      expect((await adapter.logTail(1)).length).toBeLessThanOrEqual(1);
    },
  },
  {
    says: 'is waited for only as long as the signal lasts, and lives on (A7)',
    holds: async ({ service, adapter, soon, start, install }) => {
      await install('slow_to_stop');
      await start();
      await adapter.hold();
      await expect(adapter.stop(AbortSignal.timeout(100))).rejects.toMatchObject({ code: 'stop_overrun' });
      await expect(service.adapter().waitUntilGone(AbortSignal.abort())).rejects.toThrow();
      expect(await service.livePids()).toHaveLength(1);
      await service.letStop();
      await adapter.waitUntilGone(soon());
    },
  },
  {
    says: 'is neither started nor stopped when an agent starts, however often',
    holds: async ({ service, adapter, start }) => {
      await service.adapter().prepare();
      expect((await adapter.status()).state).toBe('stopped');
      await start();
      const { mainPid } = await adapter.status();
      await service.adapter().prepare();
      await service.adapter().prepare();
      expect(await adapter.status()).toMatchObject({ state: 'running', mainPid });
    },
  },
];
