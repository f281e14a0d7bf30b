import { expect } from 'vitest';
import { checksumOf } from '../../host/file-hash.ts';
import type { ContractSentence } from './contract-sentence.ts';

/** How an artifact comes to the host and into its place. */
export const ARTIFACT_SENTENCES: readonly ContractSentence[] = [
  {
    says: 'is found again once acquired, also by a restarted agent, and is gone when discarded',
    holds: async ({ service, adapter, soon, acquireOptions }) => {
      const artifact = await service.offer('runs');
      expect(await adapter.findAcquiredArtifact(artifact)).toBeNull();
      const handle = await adapter.acquireArtifact(artifact, acquireOptions());
      expect(await service.adapter().findAcquiredArtifact(artifact)).toEqual(handle);
      await adapter.verifyArtifact(handle, soon());
      await adapter.discardArtifact(artifact);
      await adapter.discardArtifact(artifact);
      expect(await adapter.findAcquiredArtifact(artifact)).toBeNull();
    },
  },
  {
    says: 'is refused when its checksum is another one, and nothing is found then',
    holds: async ({ service, adapter, acquireOptions }) => {
      const artifact = { ...(await service.offer('runs')), checksum: checksumOf('something else') };
      await expect(adapter.acquireArtifact(artifact, acquireOptions())).rejects.toMatchObject({
        code: 'checksum_mismatch',
      });
      expect(await adapter.findAcquiredArtifact(artifact)).toBeNull();
    },
  },
  {
    says: 'is installed once, however often',
    holds: async ({ service, adapter, soon, acquireOptions }) => {
      const artifact = await service.offer('runs');
      await adapter.backupState(service.backupDir, [], soon());
      const handle = await adapter.acquireArtifact(artifact, acquireOptions());
      expect(await adapter.isArtifactInstalled(handle.installedChecksum)).toBe(false);
      await adapter.installArtifact(handle, service.backupDir, soon());
      await service.adapter().installArtifact(handle, service.backupDir, soon());
      expect(await adapter.isArtifactInstalled(handle.installedChecksum)).toBe(true);
      expect(await adapter.isArtifactInstalled(service.installedChecksum)).toBe(false);
    },
  },
  {
    says: 'runs only after a start: what is installed and what runs are two answers (A6)',
    holds: async ({ service, adapter, soon, start, install }) => {
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
    },
  },
  {
    says: 'is not fetched by a call whose time is up, and nothing is left of it',
    holds: async ({ service, adapter, acquireOptions }) => {
      const artifact = await service.offer('runs');
      const late = { ...acquireOptions(), signal: AbortSignal.abort() };
      await expect(adapter.acquireArtifact(artifact, late)).rejects.toThrow();
      expect(await adapter.findAcquiredArtifact(artifact)).toBeNull();
    },
  },
  {
    says: 'is not called right when it is gone',
    holds: async ({ service, adapter, acquireOptions, soon }) => {
      const artifact = await service.offer('runs');
      const handle = await adapter.acquireArtifact(artifact, acquireOptions());
      await adapter.discardArtifact(artifact);
      await expect(service.adapter().verifyArtifact(handle, soon())).rejects.toThrow();
    },
  },
];
