import type { UpgradeAction } from './action.ts';
import { acquireArtifact } from './actions/acquire-artifact.ts';
import { backupState, checkBeforeBackup } from './actions/backup-state.ts';
import { verifyArtifact } from './actions/verify-artifact.ts';

/**
 * What stands in the way of a backup is known ahead. The backup itself is not made ahead: a config that its operator
 * edits until the upgrade would be lost by an undo.
 */
const checkConfigs: UpgradeAction = {
  ...backupState,
  isAlreadyDone: async () => false,
  execute: checkBeforeBackup,
};

/** The part of an upgrade that a node need not be stopped for, in the order of the upgrade. */
export const STAGE_ACTIONS: readonly UpgradeAction[] = [checkConfigs, acquireArtifact, verifyArtifact];
