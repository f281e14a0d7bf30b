import { AgentError } from '../../agent-error.ts';
import type { UpgradeAction } from '../action.ts';
import { knownArtifact, requireWantedChecksum } from './wanted-checksum.ts';

/** Everything that can be known of the new artifact before the node is stopped (A10). */
export const verifyArtifact: UpgradeAction = {
  name: 'verify_artifact',
  timeoutMs: ({ budgets }) => budgets.verifyMs,
  // safe to repeat, and worth it
  isAlreadyDone: async () => false,
  execute: async (params) => {
    const { runtime, artifact, signal } = params;
    await runtime.requireReady();
    const handle = await runtime.findAcquiredArtifact(knownArtifact(params));
    if (handle !== null) return runtime.verifyArtifact(handle, signal);
    if (await runtime.isArtifactInstalled(requireWantedChecksum(params))) return;
    throw new AgentError(
      'artifact_missing',
      `the acquired ${artifact.name} disappeared before it could be verified: somebody removed it; try again`,
    );
  },
  // it changed nothing
  compensate: async () => undefined,
};
