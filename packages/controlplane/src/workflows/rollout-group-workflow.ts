import {
  condition,
  continueAsNew,
  defineSignal,
  ParentClosePolicy,
  proxyLocalActivities,
  setHandler,
  setWorkflowOptions,
  startChild,
  uuid4,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import { ProfileDatabaseStep } from './activity-profiles.ts';
import type { ComponentStart, GroupActivities, GroupControlByHand, GroupControlSignal } from './activity-types.ts';
import { rolloutSearchAttributes } from './search-attributes.ts';
import { onNewBuild } from './versioning-behavior.ts';
import { rolloutWorkflowId } from './workflow-ids.ts';
import type { RolloutGroupInput, RolloutInput, SignalMark } from './workflow-input.ts';

/** Spec "RolloutGroupWorkflow". */
const CONTROL_SIGNALS: readonly GroupControlSignal[] = ['pause', 'resume', 'cancel', 'rollback', 'skip'];
/** A gate that waits looks every few seconds; a history is cut long before the engine's limit. */
const MAX_HISTORY_EVENTS = 2_000;

const { UpdateGroupProgress } = proxyLocalActivities<GroupActivities>(ProfileDatabaseStep);

/**
 * A group that asks, obeys and sleeps until it is woken (C7a): its components' rollouts are children that are started and
 * not awaited, so that losing this workflow harms none of them. A rollout's change of status wakes it.
 */
export async function RolloutGroupWorkflow(input: RolloutGroupInput): Promise<string> {
  const { groupId } = input;
  let woken = false;
  const byHand = [...((input.controlsByHand ?? []) as readonly GroupControlByHand[])];
  for (const kind of CONTROL_SIGNALS) {
    setHandler(defineSignal<[SignalMark?]>(kind), (mark) => {
      woken = true;
      if (!mark?.stored) byHand.push({ id: uuid4(), kind });
    });
  }
  setHandler(defineSignal('wake'), () => {
    woken = true;
  });
  const goOn = () => continueAsNew<typeof RolloutGroupWorkflow>({ version: 1, groupId, controlsByHand: [...byHand] });
  for (;;) {
    woken = false;
    const answer = await UpdateGroupProgress({ groupId, controlsByHand: byHand.splice(0) });
    switch (answer.kind) {
      case 'start_component':
        await startComponent(answer.rollout);
        return await goOn();
      case 'finish':
        // What arrived meanwhile may have opened the group again (a rollback): ask once more before ending.
        if (!woken) return answer.status;
        break;
      case 'wait':
        if (workflowInfo().historyLength > MAX_HISTORY_EVENTS) return await goOn();
        if (answer.forMs === null) await condition(() => woken);
        else await condition(() => woken, Math.max(answer.forMs, 1));
        break;
    }
  }
}

// It lives for days and remembers nothing, so it goes on on the current build; a change of its steps needs patched().
setWorkflowOptions(onNewBuild('AUTO_UPGRADE'), RolloutGroupWorkflow);

/** Starts the workflow of a component's rollout; one that runs already is left alone. */
async function startComponent(rollout: ComponentStart): Promise<void> {
  const args: [RolloutInput] = [{ version: 1, rolloutId: rollout.id }];
  try {
    await startChild('RolloutWorkflow', {
      workflowId: rolloutWorkflowId(rollout.id),
      args,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      typedSearchAttributes: rolloutSearchAttributes(rollout),
    });
  } catch (error) {
    // By name: the class isn't among what workflow code may import.
    if (!(error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError')) throw error;
  }
}
