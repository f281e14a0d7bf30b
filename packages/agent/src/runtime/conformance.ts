import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'vitest';
import { ARTIFACT_SENTENCES } from './contract/artifact-sentences.ts';
import { BACKUP_SENTENCES } from './contract/backup-sentences.ts';
import { CONFIG_SENTENCES } from './contract/config-sentences.ts';
import { setScene } from './contract/contract-scene.ts';
import type { ConformanceService, ContractScene, ContractSentence } from './contract/contract-sentence.ts';
import { HOLD_SENTENCES } from './contract/hold-sentences.ts';
import { SERVICE_SENTENCES } from './contract/service-sentences.ts';

const PATIENCE_MS = 60_000; // a busy machine breaks no contract

/** The contract in `runtime-adapter.ts`, sentence by sentence; `it` reads on from the title. */
export const RUNTIME_CONTRACT: Readonly<Record<string, readonly ContractSentence[]>> = {
  'the service': SERVICE_SENTENCES,
  'the hold': HOLD_SENTENCES,
  'the artifact': ARTIFACT_SENTENCES,
  'the backup': BACKUP_SENTENCES,
  'a config': CONFIG_SENTENCES,
};

/** Each sentence of the contract as a test; every adapter must pass all of them. */
export function describeRuntimeContract(name: string, makeService: () => Promise<ConformanceService>): void {
  describe(`the contract of a runtime adapter, kept by ${name}`, () => {
    let scene: ContractScene;
    beforeEach(async () => {
      const service = await makeService();
      scene = await setScene(service, service.adapter(), PATIENCE_MS);
    });
    afterEach(() => scene.service.dispose());

    for (const [subject, sentences] of Object.entries(RUNTIME_CONTRACT)) {
      describe(subject, () => {
        for (const { says, holds } of sentences) it(says, () => holds(scene));
      });
    }
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
