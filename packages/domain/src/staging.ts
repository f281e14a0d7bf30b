import type { NodeUpgradeStatus } from './node-upgrade-status.ts';
import type { RolloutDirection, RolloutStatus } from './rollout-status.ts';
import { isEndedRollout } from './rollout-status.ts';

/** What an agent can be told to have ready ahead of an attempt; `unstaged` takes it back. */
export const STAGE_GOALS = ['staged', 'armed', 'unstaged'] as const;
export type StageGoal = (typeof STAGE_GOALS)[number];

/**
 * What the agent said last. `staging`: told, and no answer yet; `armed`: staged, and it swaps by itself at the height;
 * `activated`: it did, and its result waits to be taken; `not_ready`: it can't, and is told again after a while; `unstaged`: nothing is left of it.
 */
export const STAGE_STATES = ['staging', 'staged', 'armed', 'activated', 'not_ready', 'unstaged'] as const;
export type StageState = (typeof STAGE_STATES)[number];

/**
 * Who swaps when the height has come. `rollout`: the rollout orders it; `height`: each agent by itself, when its node has
 * ended at the height or is past it; `plan`: each agent by itself, when its node has written its plan file.
 */
export const ACTIVATION_MODES = ['rollout', 'height', 'plan'] as const;
export type ActivationMode = (typeof ACTIVATION_MODES)[number];

/** A node that was not ready is told again after so long, in milliseconds: a disk is emptied, a server comes back. */
export const STAGE_AGAIN_MS = 60_000;

/** An armed order lapses by itself so long after it was told, in milliseconds: a forgotten host must not swap weeks later. */
export const ARMED_FOR_MS = 24 * 3_600_000;
/** An armed node that is reached is told anew after so long, so that its order lapses only where nobody can reach it. */
export const REARM_MS = 6 * 3_600_000;

export interface StagedRollout {
  readonly status: RolloutStatus;
  readonly direction: RolloutDirection;
  /** Nodes make everything ready ahead that needs no stop. */
  readonly stage: boolean;
  /** The agents swap by themselves at the height. */
  readonly activatesOnHost: boolean;
}

export interface StagedRow {
  readonly status: NodeUpgradeStatus;
  readonly stageGoal: StageGoal | null;
  readonly stageState: StageState | null;
  /** When `stageState` was last said; null: never. */
  readonly stageChangedAt: number | null;
  /** A command of it is on its way or being done. */
  readonly isBeingTold: boolean;
  readonly online: boolean;
  /** No rule of people or calendar keeps its agent from being armed (`mayArm`). */
  readonly mayArm: boolean;
}

/** What a node should have ready now; null: nothing is to be told, its own attempt decides. */
export function stageGoal(
  rollout: StagedRollout,
  row: Pick<StagedRow, 'status' | 'stageGoal' | 'mayArm'>,
): StageGoal | null {
  if (row.status !== 'pending' && row.status !== 'skipped') return null;
  const isOff = isEndedRollout(rollout.status) || rollout.direction === 'rollback' || row.status === 'skipped';
  if (isOff || !rollout.stage) return row.stageGoal === null ? null : 'unstaged';
  if (rollout.status === 'running') return rollout.activatesOnHost && row.mayArm ? 'armed' : 'staged';
  return row.stageGoal === null ? null : 'staged'; // paused: nothing new, and nothing swaps by itself
}

/**
 * What the agent of a node is to be told now; null: nothing. Asked again and again, from rows alone, so that nothing is
 * lost by a crash. An agent that is away is not told to begin, but is told to take back what it has.
 * @param now epoch milliseconds
 */
export function stageOrder(rollout: StagedRollout, row: StagedRow, now: number): StageGoal | null {
  const goal = stageGoal(rollout, row);
  if (goal === null || row.stageState === 'activated') return null; // what swapped has nothing to take back
  if (goal !== row.stageGoal) return row.online || row.stageGoal !== null ? goal : null;
  if (row.isBeingTold) return null;
  if (goal === 'unstaged') return row.stageState === 'unstaged' ? null : goal;
  if (row.stageState === 'armed' && goal !== 'armed') return goal;
  const sinceMs = now - (row.stageChangedAt ?? 0);
  const isDue =
    (row.stageState === 'not_ready' && sinceMs >= STAGE_AGAIN_MS) ||
    (row.stageState === 'armed' && sinceMs >= REARM_MS);
  return isDue && row.online ? goal : null;
}

/**
 * Whether a node that is at the target may have got there by the swap that it was armed for: its heartbeat can tell of the
 * new version before the result arrives. Its attempt begins then and takes that result (B2).
 */
export function maySwapByItself(stageState: StageState | null): boolean {
  return stageState === 'armed' || stageState === 'activated';
}

/** Whether nobody knows yet if the node can make ready: a first answer is still to come. */
export function awaitsStage(row: { readonly stageState?: StageState | null }): boolean {
  return (row.stageState ?? null) === null || row.stageState === 'staging';
}
