import type { UpgradeAction } from '../action.ts';
import { knownArtifact, wantedChecksum } from './wanted-checksum.ts';

const MB = 1024 * 1024;

/** Brings the new artifact to where a rename can install it; nothing of the node is touched. */
export const acquireArtifact: UpgradeAction = {
  name: 'acquire_artifact',
  timeoutMs: ({ budgets }) => budgets.acquireMs,
  isAlreadyDone: async (params) => {
    const handle = await params.runtime.findAcquiredArtifact(knownArtifact(params));
    const checksum = handle?.installedChecksum ?? wantedChecksum(params);
    if (checksum === null) return false;
    // an upgrade of configs only, or one that is run again: what is wanted is installed already
    if (handle === null && !(await params.runtime.isArtifactInstalled(checksum))) return false;
    params.learn({ installedChecksum: checksum });
    return true;
  },
  execute: async ({ runtime, artifact, earlierBackupDirs, signal, learn, onProgress }) => {
    const handle = await runtime.acquireArtifact(artifact, {
      signal,
      backupDirs: earlierBackupDirs,
      onProgress: ({ receivedBytes, totalBytes }) => {
        if (totalBytes === null) return onProgress(0, `downloaded ${Math.floor(receivedBytes / MB)} MB`);
        const note = `downloaded ${Math.floor(receivedBytes / MB)} of ${Math.ceil(totalBytes / MB)} MB`;
        onProgress(Math.floor((100 * receivedBytes) / Math.max(1, totalBytes)), note);
      },
    });
    learn({ installedChecksum: handle.installedChecksum });
  },
  compensate: ({ runtime, artifact }) => runtime.discardArtifact(artifact),
};
