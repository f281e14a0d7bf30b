import { expect } from 'vitest';
import { checksumOf } from '../../host/file-hash.ts';
import type { ContractSentence } from './contract-sentence.ts';

const CONFIG = Buffer.from('peers = 100\n');

/** How config files are written and put back (A8, A9). */
export const CONFIG_SENTENCES: readonly ContractSentence[] = [
  {
    says: 'keeps its mode when it is replaced, and gets 0644 when it is new (A8)',
    holds: async ({ service, adapter }) => {
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
    },
  },
  {
    says: 'is as it was after a restore, and one that was new is gone, however often',
    holds: async ({ service, adapter, soon }) => {
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
    },
  },
  {
    says: 'outside the configured roots is refused before anything is done (A9)',
    holds: async ({ service, adapter, soon }) => {
      const refused = { code: 'path_refused' };
      await expect(adapter.writeConfig(service.forbiddenPath, CONFIG)).rejects.toMatchObject(refused);
      const backup = adapter.backupState(service.backupDir, [service.forbiddenPath], soon());
      await expect(backup).rejects.toMatchObject(refused);
      await expect(adapter.configChecksum(service.forbiddenPath)).rejects.toMatchObject(refused);
      expect(await adapter.isBackedUp(service.backupDir)).toBe(false);
    },
  },
];
