import type { VendorHook } from '@hoodcloud/domain/vendor-hook';
import type { UpgradeAction } from './action.ts';
import { acquireArtifact } from './actions/acquire-artifact.ts';
import { backupState } from './actions/backup-state.ts';
import { dutyQuestion } from './actions/duty-question.ts';
import { installArtifact } from './actions/install-artifact.ts';
import { reloadDaemon } from './actions/reload-daemon.ts';
import { startNode } from './actions/start-node.ts';
import { stopNode } from './actions/stop-node.ts';
import { vendorHookAction } from './actions/vendor-hook.ts';
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

/** The steps of the vendor that a confirmation runs. */
export function actionsOfConfirmation(hooks: readonly VendorHook[]): readonly UpgradeAction[] {
  return hooks.filter(({ at }) => at === 'after_health').map(vendorHookAction);
}

/** All that an attempt may have begun, for its undo. */
export function undoableActions(hooks: readonly VendorHook[]): readonly UpgradeAction[] {
  return [...actionsWith(hooks), ...actionsOfConfirmation(hooks)];
}

/** The primitives of an attempt with its steps of the vendor between them. */
export function actionsWith(hooks: readonly VendorHook[]): readonly UpgradeAction[] {
  if (hooks.length === 0) return UPGRADE_ACTIONS;
  const at = (point: VendorHook['at']) => hooks.filter((hook) => hook.at === point).map(vendorHookAction);
  // the stop follows the answer at once
  const questions = hooks.filter((hook) => hook.at === 'duty').map(dutyQuestion);
  return UPGRADE_ACTIONS.flatMap((action) => {
    if (action === stopNode) return [...at('before_stop'), ...questions, action];
    if (action === startNode) return [...at('after_install'), action];
    return [action];
  });
}
