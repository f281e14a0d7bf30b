import { expect } from 'vitest';
import type { ContractSentence } from './contract-sentence.ts';

/** What an undo needs and how it is used (A12, A13). */
export const BACKUP_SENTENCES: readonly ContractSentence[] = [
  {
    says: 'is whole or not there',
    holds: async ({ service, adapter, backUp }) => {
      expect(await adapter.isBackedUp(service.backupDir)).toBe(false);
      await backUp();
      expect(await service.adapter().isBackedUp(service.backupDir)).toBe(true);
      await service.damageBackup(service.backupDir);
      expect(await adapter.isBackedUp(service.backupDir)).toBe(false);
    },
  },
  {
    says: 'brings back the artifact, however often',
    holds: async ({ service, adapter, soon, start, install, backUp }) => {
      await backUp();
      await install('runs', service.backupDir);
      await adapter.restoreArtifact(service.backupDir, soon());
      await service.adapter().restoreArtifact(service.backupDir, soon());
      expect((await adapter.status()).installedChecksum).toBe(service.installedChecksum);
      await start();
      expect((await adapter.status()).runningChecksum).toBe(service.installedChecksum);
    },
  },
  {
    says: 'gives an artifact without the network (A12a)',
    holds: async ({ service, adapter, soon, install, acquireOptions, newBackupDir, backUp }) => {
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
    },
  },
  {
    says: 'is not used when it is damaged, and nothing is touched then (A12)',
    holds: async ({ service, adapter, soon, install, backUp }) => {
      await backUp();
      const { checksum } = await install('runs', service.backupDir);
      await service.damageBackup(service.backupDir);
      await expect(adapter.restoreArtifact(service.backupDir, soon())).rejects.toMatchObject({
        code: 'backup_corrupt',
      });
      expect(await adapter.isArtifactInstalled(checksum)).toBe(true);
    },
  },
  {
    says: 'can be removed, however often, and the service stays as it is (A13)',
    holds: async ({ service, adapter, start, install, newBackupDir, backUp, soon }) => {
      await backUp();
      const { checksum } = await install('runs', service.backupDir);
      const later = newBackupDir();
      await adapter.backupState(later, [], soon());
      await start();
      await adapter.removeBackup(service.backupDir);
      await service.adapter().removeBackup(service.backupDir);
      expect(await adapter.isBackedUp(service.backupDir)).toBe(false);
      expect(await adapter.isBackedUp(later)).toBe(true);
      expect(await adapter.status()).toMatchObject({ state: 'running', runningChecksum: checksum });
    },
  },
  {
    says: 'is confirmed any number of times',
    holds: async ({ service, adapter, backUp }) => {
      await backUp();
      await adapter.confirm(service.backupDir);
      await adapter.confirm(service.backupDir);
    },
  },
];
