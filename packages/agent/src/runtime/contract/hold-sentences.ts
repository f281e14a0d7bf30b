import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ContractSentence } from './contract-sentence.ts';

/** How a service is kept down (A18a). */
export const HOLD_SENTENCES: readonly ContractSentence[] = [
  {
    says: 'is shown, and is set and released any number of times',
    holds: async ({ service, adapter }) => {
      await adapter.hold();
      await adapter.hold();
      expect((await service.adapter().status()).held).toBe(true);
      await adapter.release();
      await adapter.release();
      expect((await adapter.status()).held).toBe(false);
    },
  },
  {
    says: 'keeps a service down that crashes, until a deliberate start (A18a)',
    holds: async ({ service, adapter, soon, start, patienceMs }) => {
      await start();
      const began = performance.now();
      await service.crash();
      await expect.poll(async () => (await adapter.status()).restarts, { timeout: patienceMs }).toBe(1);
      await expect.poll(service.livePids, { timeout: patienceMs }).toHaveLength(1);
      const restartMs = performance.now() - began;

      await adapter.hold();
      await service.crash();
      await sleep(3 * restartMs); // nothing shows that a restart will not come but that it has not come
      expect(await service.livePids()).toEqual([]);
      await adapter.stop(soon());
      await start();
      expect(await adapter.status()).toMatchObject({ state: 'running', held: false });
    },
  },
  {
    says: 'goes when the agent leaves, and the service goes on',
    holds: async ({ adapter, start }) => {
      await start();
      const { mainPid } = await adapter.status();
      await adapter.hold();
      await adapter.leave();
      await adapter.leave();
      expect(await adapter.status()).toMatchObject({ state: 'running', mainPid, held: false });
    },
  },
];
