import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArtifactServer } from '@hoodcloud/testkit/artifact-server';
import { checksumOf } from '../../host/file-hash.ts';
import { backupCopy, writeWithFolders } from '../conformance.ts';
import type { ConformanceService } from '../contract/contract-sentence.ts';
import { TEST_NODE_SCRIPT, testArtifact } from '../test-artifacts.ts';

export type FileReleases = Pick<ConformanceService, 'installedChecksum' | 'offer' | 'damageBackup' | 'letStop'> & {
  readonly installPath: string;
  /** What an artifact is given to run. */
  readonly script: string;
};

/** An installed binary in the service's folder, and more of them offered by a server; the same for every file runtime. */
export async function layFileReleases(folder: string, server: ArtifactServer): Promise<FileReleases> {
  const installPath = join(folder, 'bin', 'node');
  const script = join(folder, 'node.sh');
  const installed = await testArtifact('runs');
  await writeWithFolders(installPath, installed, 0o755);
  await writeWithFolders(script, TEST_NODE_SCRIPT, 0o644);
  let offered = 0;
  return {
    installPath,
    script,
    installedChecksum: checksumOf(installed),
    offer: async (behaviour) => {
      const content = await testArtifact(behaviour);
      const url = server.publish(`${folder}/${offered++}`, content);
      return { name: 'node', url, checksum: checksumOf(content), member: null };
    },
    letStop: () => writeFile(join(folder, 'may-stop'), ''),
    damageBackup: (backupDir) => writeWithFolders(backupCopy(backupDir, 'node'), 'damaged', 0o600),
  };
}
