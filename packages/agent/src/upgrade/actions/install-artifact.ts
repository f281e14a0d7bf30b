import { AgentError } from '../../agent-error.ts';
import type { UpgradeAction } from '../action.ts';
import { ensureStopped } from './ensure-stopped.ts';
import { knownArtifact, requireWantedChecksum } from './wanted-checksum.ts';

/** Swaps the artifact. */
export const installArtifact: UpgradeAction = {
  name: 'install_artifact',
  timeoutMs: ({ budgets }) => budgets.installMs,
  isAlreadyDone: (params) => params.runtime.isArtifactInstalled(requireWantedChecksum(params)),
  execute: async (params) => {
    await ensureStopped(params);
    const handle = await params.runtime.findAcquiredArtifact(knownArtifact(params));
    if (handle === null) {
      throw new AgentError('artifact_missing', `the acquired ${params.artifact.name} disappeared: try again`);
    }
    await params.runtime.installArtifact(handle, params.backupDir, params.signal);
  },
  compensate: ({ runtime, backupDir, signal }) => runtime.restoreArtifact(backupDir, signal),
};
