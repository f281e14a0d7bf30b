import {
  condition,
  continueAsNew,
  defineSignal,
  ParentClosePolicy,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  setWorkflowOptions,
  sleep,
  startChild,
  uuid4,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import { ProfileDatabaseStep, ProfileEveryRow } from './activity-profiles.ts';
import type { ControlByHand, ControlSignal, NodeOffer, RolloutActivities } from './activity-types.ts';
import { incurable } from './incurable-error.ts';
import { nodeSearchAttributes } from './search-attributes.ts';
import { onNewBuild } from './versioning-behavior.ts';
import { nodeWorkflowId } from './workflow-ids.ts';
import type { RolloutInput, SignalMark } from './workflow-input.ts';

const CONTROL_SIGNALS: readonly ControlSignal[] = ['pause', 'resume', 'cancel', 'force', 'approve_canary'];
/** A run that only waits is woken once a minute; its history is cut long before the engine's limit. */
const MAX_HISTORY_EVENTS = 2_000;

const steps = proxyLocalActivities<RolloutActivities>(ProfileDatabaseStep);
const { ResolveRolloutTargets, FinalizeRollout } = proxyActivities<RolloutActivities>(ProfileEveryRow);

/**
 * A rollout that asks, obeys and sleeps until it is woken; it remembers nothing that rows hold (C7a). Children are
 * started and not awaited, so that losing this workflow harms none of them (C7).
 */
export async function RolloutWorkflow(input: RolloutInput): Promise<string> {
  const { rolloutId } = input;
  const inbox = openInbox(input);
  for (;;) {
    inbox.woken = false;
    const controlsByHand = inbox.byHand.splice(0);
    const answer = await steps.UpdateRolloutProgress({ rolloutId, controlsByHand });
    switch (answer.kind) {
      case 'resolve_targets':
        await resolveTargets(rolloutId);
        break;
      case 'roll_back':
        await steps.BeginRollback({ rolloutId, reason: answer.reason });
        break;
      case 'run':
        await Promise.all(answer.nodes.map((node) => startNode(rolloutId, node)));
        return continueWith(rolloutId, inbox.byHand);
      case 'finish': {
        const { final } = await FinalizeRollout({ rolloutId, status: answer.status, reason: answer.reason });
        // What arrived meanwhile may open the rollout again (a rollback): ask once more before ending.
        if (final && !inbox.woken) return answer.status;
        break;
      }
      case 'wait':
        if (workflowInfo().historyLength > MAX_HISTORY_EVENTS) return continueWith(rolloutId, inbox.byHand);
        await sleepUntilWoken(inbox, answer.forMs);
        if (answer.gatherMs > 0) await sleep(answer.gatherMs);
        break;
    }
  }
}

/** What no other try can cure (a template that misses a variable) ends the rollout with that sentence (C4). */
async function resolveTargets(rolloutId: string): Promise<void> {
  try {
    await ResolveRolloutTargets({ rolloutId });
  } catch (error) {
    const sentence = incurable(error);
    if (sentence === null) throw error;
    const reason = { code: 'internal_error', params: { error: sentence } } as const;
    await FinalizeRollout({ rolloutId, status: 'failed', reason });
  }
}

// It lives for days and remembers nothing, so it goes on on the current build; a change of its steps needs patched().
setWorkflowOptions(onNewBuild('AUTO_UPGRADE'), RolloutWorkflow);

interface Inbox {
  woken: boolean;
  /** Signals without a row, in the order in which they came. */
  readonly byHand: ControlByHand[];
}

function openInbox(input: RolloutInput): Inbox {
  const inbox: Inbox = { woken: false, byHand: [...((input.controlsByHand ?? []) as readonly ControlByHand[])] };
  for (const kind of CONTROL_SIGNALS) {
    setHandler(defineSignal<[SignalMark?]>(kind), (mark) => {
      inbox.woken = true;
      if (!mark?.stored) inbox.byHand.push({ id: uuid4(), kind });
    });
  }
  setHandler(defineSignal('wake'), () => {
    inbox.woken = true;
  });
  return inbox;
}

/** Signals that came while the last answer was obeyed travel on; wake-ups don't need to, the next run asks at once (field-case 113). */
function continueWith(rolloutId: string, controlsByHand: readonly ControlByHand[]): Promise<never> {
  return continueAsNew<typeof RolloutWorkflow>({ version: 1, rolloutId, controlsByHand: [...controlsByHand] });
}

async function sleepUntilWoken(inbox: Inbox, forMs: number | null): Promise<void> {
  if (forMs === null) await condition(() => inbox.woken);
  else await condition(() => inbox.woken, Math.max(forMs, 1));
}

/** Starts a node's workflow; one that runs already is left alone (one run at a time makes a second offer harmless). */
async function startNode(rolloutId: string, { nodeId, attempt, attemptId }: NodeOffer): Promise<void> {
  try {
    await startChild('UpgradeNodeWorkflow', {
      workflowId: nodeWorkflowId(rolloutId, nodeId),
      args: [{ version: 1, rolloutId, nodeId, attempt }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      typedSearchAttributes: nodeSearchAttributes({ rolloutId, nodeId, attemptId }),
    });
  } catch (error) {
    // By name: the class isn't among what workflow code may import.
    if (!(error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError')) throw error;
  }
}
