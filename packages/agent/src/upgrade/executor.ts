import { phaseOfStep, type UpgradePhase } from '@hoodcloud/domain/upgrade-phase';
import { describeError } from '../agent-error.ts';
import type { FaultPoint } from '../host/fault-point.ts';
import type { ActionParams, UpgradeAction } from './action.ts';
import {
  type AttemptFailure,
  type AttemptProgress,
  type StepEntry,
  type StepState,
  wentAllTheWay,
} from './attempt-progress.ts';
import { withinBudget } from './time-budget.ts';

export type ExecutionOutcome = 'completed' | 'rolled_back' | 'failed_rollback';

/** Where an execution is, for people: position in the list, share of it that is done, one line. */
export interface ExecutionProgress {
  readonly actionIndex: number;
  readonly action: UpgradeAction['name'];
  /** 0 to 100 over the whole list. */
  readonly progressPct: number;
  readonly phase: UpgradePhase;
  readonly note: string;
}

/** What the actions get from outside; the executor adds the rest. */
export type ExecutionParams = Omit<ActionParams, 'signal' | 'onProgress' | 'learn' | 'inDoubt' | 'installedChecksum'>;

export interface Execution {
  readonly actions: readonly UpgradeAction[];
  /** All that may be undone in their order, when that is more than `actions`. */
  readonly undo?: readonly UpgradeAction[];
  readonly params: ExecutionParams;
  /** As the record has it; changed while the execution goes on. */
  readonly progress: AttemptProgress;
  /** Writes the record; on the disk when it resolves (A4). */
  readonly save: () => Promise<void>;
  /** A record that can't be written stops a way forward, never a way back. */
  readonly onSaveFailed: (error: unknown) => void;
  /** Before the first undo: the failed version's log is still there (A18). Must not reject. */
  readonly beforeUndo: () => Promise<void>;
  readonly onProgress: (progress: ExecutionProgress) => void;
  readonly faultPoint: FaultPoint;
  readonly now: () => number;
}

/**
 * Runs a list of actions, or undoes what was done of it: from the beginning, or from wherever a crash left the record.
 * The only place that sequences, times out, records and compensates; it knows neither which actions nor which runtime.
 * Expected ends are values; it throws nothing.
 */
export async function execute(execution: Execution): Promise<ExecutionOutcome> {
  const { progress } = execution;
  if (progress.direction === 'forward') {
    const failure = await goForward(execution);
    if (failure === null) return 'completed';
    progress.direction = 'undo';
    progress.failure = failure;
    await saveOnTheWayBack(execution);
  }
  await execution.faultPoint('before-undo');
  await execution.beforeUndo();
  return goBack(execution);
}

/** @returns why it can't go on; null when the last action is done */
async function goForward(execution: Execution): Promise<AttemptFailure | null> {
  if (wentAllTheWay(execution.progress, execution.actions)) return null; // it was told: no full disk may undo it now
  for (const action of execution.actions) {
    const found = entryOf(execution, action)?.state;
    if (found === 'executed' || found === 'already_done') continue;
    const inDoubt = found === 'intended';
    const entry = begin(execution, action, 'intended');
    try {
      // the result of the action before and the intent of this one: one write (A4). The look changes nothing and needs
      // not wait for the disk: between stop and start this is downtime
      const intentWritten = action.leavesNothingInDoubt?.(execution.params) ? undefined : execution.save();
      const [isDone] = await Promise.all([look(execution, action, inDoubt), intentWritten]);
      await execution.faultPoint(`before:${action.name}`);
      const state = isDone ? foundDone(inDoubt) : await run(execution, action, inDoubt);
      await execution.faultPoint(`after:${action.name}`);
      end(execution, entry, state, null);
    } catch (error) {
      const { code, message } = describeError(error);
      end(execution, entry, 'failed', message);
      return { code, message, action: action.name };
    }
  }
  return lastSave(execution);
}

/** A completion that isn't on the disk would be forgotten by a crash, and must not be told to anyone. */
async function lastSave({ save }: Execution): Promise<AttemptFailure | null> {
  try {
    await save();
    return null;
  } catch (error) {
    return { ...describeError(error), action: null };
  }
}

function look(execution: Execution, action: UpgradeAction, inDoubt: boolean): Promise<boolean> {
  return withinBudget(action.name, action.timeoutMs(execution.params), (signal) => {
    const full = paramsOf(execution, action, signal, inDoubt);
    full.onProgress(0, '');
    return action.isAlreadyDone(full);
  });
}

/** What an interrupted try of ours did is ours to undo, though the host shows it already (A3). */
function foundDone(inDoubt: boolean): StepState {
  return inDoubt ? 'executed' : 'already_done';
}

async function run(execution: Execution, action: UpgradeAction, inDoubt: boolean): Promise<StepState> {
  return withinBudget<StepState>(action.name, action.timeoutMs(execution.params), async (signal) => {
    void execution.faultPoint(`during:${action.name}`);
    await action.execute(paramsOf(execution, action, signal, inDoubt));
    return 'executed';
  });
}

/** Undoes in reverse what was begun: the failing action too, it is in doubt (A2); what was found done not (A3). */
async function goBack(execution: Execution): Promise<ExecutionOutcome> {
  for (const action of inUndoOrder(execution.undo ?? execution.actions)) {
    const found = entryOf(execution, action)?.state;
    if (found === undefined || found === 'already_done' || found === 'compensated') continue;
    const entry = begin(execution, action, 'undo_intended');
    await saveOnTheWayBack(execution);
    await execution.faultPoint(`before-undo:${action.name}`);
    try {
      const budget = (action.undoTimeoutMs ?? action.timeoutMs)(execution.params);
      await withinBudget(`undo of ${action.name}`, budget, async (signal) => {
        const full = paramsOf(execution, action, signal, true);
        full.onProgress(0, `undoing ${action.name}`);
        void execution.faultPoint(`during-undo:${action.name}`);
        await action.compensate(full);
      });
    } catch (error) {
      // no further: an old binary with a new config is worse than a node that stands (spec "Per-Action Compensation")
      end(execution, entry, 'compensate_failed', describeError(error).message);
      await saveOnTheWayBack(execution);
      return 'failed_rollback';
    }
    await execution.faultPoint(`after-undo:${action.name}`);
    end(execution, entry, 'compensated', null);
  }
  await saveOnTheWayBack(execution);
  return 'rolled_back';
}

/** Reverse order, and after it what must find everything as it was: the start (A1). */
function inUndoOrder(actions: readonly UpgradeAction[]): UpgradeAction[] {
  const reversed = actions.toReversed();
  return [...reversed.filter(({ undoneLast }) => !undoneLast), ...reversed.filter(({ undoneLast }) => undoneLast)];
}

function paramsOf(execution: Execution, action: UpgradeAction, signal: AbortSignal, inDoubt: boolean): ActionParams {
  const { params, progress } = execution;
  const actions = progress.direction === 'undo' ? (execution.undo ?? execution.actions) : execution.actions;
  const actionIndex = actions.indexOf(action);
  const phase = progress.direction === 'undo' ? 'ROLLBACKING' : phaseOfStep(action.name);
  return {
    ...params,
    installedChecksum: progress.installedChecksum,
    inDoubt,
    signal,
    learn: ({ installedChecksum }) => {
      progress.installedChecksum = installedChecksum;
    },
    onProgress: (ownPct, note) => {
      const progressPct = Math.floor((100 * actionIndex + ownPct) / actions.length);
      execution.onProgress({ actionIndex, action: action.name, progressPct, phase, note });
    },
  };
}

async function saveOnTheWayBack({ save, onSaveFailed }: Execution): Promise<void> {
  try {
    await save();
  } catch (error) {
    onSaveFailed(error); // a full disk must not keep a node down: undoing twice is safe, not undoing isn't
  }
}

function entryOf({ progress }: Execution, action: UpgradeAction): StepEntry | undefined {
  return progress.steps.find(({ name }) => name === action.name);
}

/** Marks an action as begun; its first beginning keeps its time, the undo doesn't rewrite history. */
function begin(execution: Execution, action: UpgradeAction, state: StepState): StepEntry {
  const known = entryOf(execution, action);
  if (known !== undefined) return Object.assign(known, { state });
  const entry = { name: action.name, state, startedAtMs: execution.now(), durationMs: 0, errorMessage: null };
  execution.progress.steps.push(entry);
  return entry;
}

function end({ now }: Execution, entry: StepEntry, state: StepState, errorMessage: string | null): void {
  Object.assign(entry, { state, errorMessage: errorMessage ?? entry.errorMessage });
  if (state !== 'compensated' && state !== 'compensate_failed') entry.durationMs = now() - entry.startedAtMs;
}
