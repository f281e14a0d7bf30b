import {
  ActivityFailure,
  continueAsNew,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  setWorkflowOptions,
  TimeoutFailure,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { ProfileDatabaseStep, ProfileHealthValidation, ProfileUpgradeDefault } from './activity-profiles.ts';
import type { AttemptRef, CommandEnd, NodeActivities, SentCommand } from './activity-types.ts';
import { incurable } from './incurable-error.ts';
import { CORRELATION_ID } from './search-attributes.ts';
import { onNewBuild } from './versioning-behavior.ts';
import type { UpgradeNodeInput } from './workflow-input.ts';

const steps = proxyLocalActivities<NodeActivities>(ProfileDatabaseStep);

/** How a run ended; the row has the details. */
export type UpgradeNodeOutcome = 'nothing_to_do' | 'succeeded' | 'failed';

/**
 * One attempt on one node, upgrade or rollback alike (spec). Every step looks at rows and changes nothing that an earlier
 * run of it changed, so a run that starts over after a loss goes on where the rows are.
 */
export async function UpgradeNodeWorkflow(input: UpgradeNodeInput): Promise<UpgradeNodeOutcome> {
  const { rolloutId, nodeId, attempt } = input;
  let woken = false;
  setHandler(defineSignal('wake'), () => {
    woken = true;
  });
  const outcome = await runAttempt({ rolloutId, nodeId, attempt });
  // A retry ordered while this run ended was delivered to it: the next attempt, if the row wants one, is a run of its own.
  if (woken) await continueAsNew<typeof UpgradeNodeWorkflow>({ ...input, attempt: attempt + 1 });
  return outcome;
}

// An attempt takes minutes: it ends on the build that began it.
setWorkflowOptions(onNewBuild('PINNED'), UpgradeNodeWorkflow);

async function runAttempt(ref: AttemptRef): Promise<UpgradeNodeOutcome> {
  const check = await steps.PreCheckNode(ref);
  if (check.kind === 'nothing_to_do') return 'nothing_to_do';
  keepCorrelationId(check.attemptId);
  const upgrade = await takeNodeAndSend(ref);
  if (upgrade === null || (await waitForCommand(upgrade)) !== 'completed') return await fail(ref);
  const proof = await steps.UpdateNodeBinaryVersion(ref);
  if (proof.kind === 'validate' && (await waitForValidation(proof)) === 'failed') {
    // A rollback that doesn't get healthy stays on the old version: the new one is what people flee from (spec, Tier 3).
    if (check.direction === 'upgrade') {
      await waitForCommand(await steps.SendUpgradeCommand({ ...ref, operation: 'COMPENSATE' }));
    }
    return await fail(ref);
  }
  // Nobody waits for the confirmation: the node is proved, and an agent that is away gets it later (B2). Unless it runs
  // steps of the vendor: one that fails is undone by the agent, as a node that doesn't get healthy is (ADR 0046).
  const confirmation = await steps.SendUpgradeCommand({ ...ref, operation: 'CONFIRM' });
  if (confirmation.isAwaited && (await waitForCommand(confirmation)) !== 'completed') return await fail(ref);
  const wasStopped = proof.kind === 'skip' && proof.why === 'left_stopped';
  await steps.UpdateNodeState({ ...ref, to: wasStopped ? 'prior' : 'syncing' });
  await steps.MarkNodeUpgradeSucceeded(ref);
  return 'succeeded';
}

/** A run that follows another one as new still carries the search attribute of the attempt before. */
function keepCorrelationId(attemptId: string): void {
  const { typedSearchAttributes } = workflowInfo();
  if (typedSearchAttributes.get(CORRELATION_ID) === attemptId) return;
  upsertSearchAttributes([{ key: CORRELATION_ID, value: attemptId }]);
}

/** What can't be begun (a template that misses a variable) fails the attempt before anything on the host was touched. */
async function takeNodeAndSend(ref: AttemptRef): Promise<SentCommand | null> {
  try {
    await steps.UpdateNodeState({ ...ref, to: 'maintenance' });
    return await steps.SendUpgradeCommand({ ...ref, operation: 'UPGRADE' });
  } catch (error) {
    const sentence = incurable(error);
    if (sentence === null) throw error;
    await steps.MarkNodeUpgradeFailed({ ...ref, error: sentence });
    return null;
  }
}

async function fail(ref: AttemptRef): Promise<UpgradeNodeOutcome> {
  await steps.MarkNodeUpgradeFailed(ref);
  return 'failed';
}

/**
 * Waits until the command's row has ended. The row decides, never the engine's clock: when the activity's time is up and
 * the row still open (its deadline was extended for a slow stop, A7), the wait begins again.
 */
async function waitForCommand(command: SentCommand): Promise<CommandEnd> {
  const { WaitForCommandCompletion } = proxyActivities<NodeActivities>(ProfileUpgradeDefault(command));
  return await untilRowEnds(() => WaitForCommandCompletion({ commandId: command.commandId }));
}

async function waitForValidation(validation: {
  readonly validationId: string;
  readonly scheduleToCloseMs: number;
}): Promise<'passed' | 'failed'> {
  const { WaitForHealthValidation } = proxyActivities<NodeActivities>(ProfileHealthValidation(validation));
  return await untilRowEnds(() => WaitForHealthValidation({ validationId: validation.validationId }));
}

async function untilRowEnds<End>(wait: () => Promise<End>): Promise<End> {
  for (;;) {
    try {
      return await wait();
    } catch (error) {
      if (!(error instanceof ActivityFailure && error.cause instanceof TimeoutFailure)) throw error;
    }
  }
}
