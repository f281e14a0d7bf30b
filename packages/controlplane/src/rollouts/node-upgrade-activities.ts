import { CompleteAsyncError } from '@temporalio/activity';
import type { Database } from '../db/database.ts';
import { retryableOnly } from '../engine/activity-errors.ts';
import type { NodeActivities } from '../workflows/activity-types.ts';
import { commandEnd, validationEnd } from './awaited-rows.ts';
import type { TargetSources } from './judge-targets.ts';
import { markNodeUpgradeFailed } from './mark-node-failed.ts';
import {
  markNodeUpgradeSucceeded,
  sendUpgradeCommand,
  updateNodeBinaryVersion,
  updateNodeState,
} from './node-upgrade-steps.ts';
import { preCheckNode } from './pre-check-node.ts';

/**
 * Activities of `UpgradeNodeWorkflow`. The two that wait hold no worker slot: the relay completes them by id when their
 * row has ended (B4a), and one that is tried again or created late finds the row (B5b).
 */
export function nodeUpgradeActivities(db: Database, sources: TargetSources): NodeActivities {
  return retryableOnly({
    PreCheckNode: (ref) => preCheckNode(db, sources, ref),
    UpdateNodeState: ({ to, ...ref }) => updateNodeState(db, ref, to),
    SendUpgradeCommand: ({ operation, ...ref }) => sendUpgradeCommand(db, sources, ref, operation),
    WaitForCommandCompletion: async ({ commandId }) => (await commandEnd(db, commandId)) ?? waitForRelay(),
    UpdateNodeBinaryVersion: (ref) => updateNodeBinaryVersion(db, ref),
    WaitForHealthValidation: async ({ validationId }) => (await validationEnd(db, validationId)) ?? waitForRelay(),
    MarkNodeUpgradeSucceeded: (ref) => markNodeUpgradeSucceeded(db, ref),
    MarkNodeUpgradeFailed: ({ error, ...ref }) => markNodeUpgradeFailed(db, ref, error),
  });
}

function waitForRelay(): never {
  throw new CompleteAsyncError();
}
