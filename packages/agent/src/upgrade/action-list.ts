import type { UpgradeAction } from './action.ts';
import { acquireArtifact } from './actions/acquire-artifact.ts';
import { backupState } from './actions/backup-state.ts';
import { installArtifact } from './actions/install-artifact.ts';
import { reloadDaemon } from './actions/reload-daemon.ts';
import { startNode } from './actions/start-node.ts';
import { stopNode } from './actions/stop-node.ts';
import { verifyArtifact } from './actions/verify-artifact.ts';
import { writeConfigs } from './actions/write-configs.ts';

/** The eight primitives in their order; the same for every chain and every runtime (spec "Action Primitives"). */
export const UPGRADE_ACTIONS: readonly UpgradeAction[] = [
  backupState,
  acquireArtifact,
  verifyArtifact,
  stopNode,
  installArtifact,
  writeConfigs,
  reloadDaemon,
  startNode,
];
