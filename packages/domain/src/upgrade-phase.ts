import type { TransitionTable } from './transition.ts';
import { type HookPoint, type HookStepName, hookPointOf } from './vendor-hook.ts';

/** Display state of a node's attempt, `rollout_nodes.upgrade_phase` (spec "UpgradePhase"). */
export const UPGRADE_PHASES = [
  'PREPARING',
  'STOPPED',
  'MUTATING',
  'STARTING',
  'VERIFYING',
  'COMPLETED',
  'ROLLBACKING',
  'ROLLED_BACK',
  'FAILED_ROLLBACK',
] as const;
export type UpgradePhase = (typeof UPGRADE_PHASES)[number];

export const UPGRADE_PHASE_TRANSITIONS: TransitionTable<UpgradePhase> = {
  PREPARING: ['STOPPED', 'ROLLBACKING'],
  STOPPED: ['MUTATING', 'ROLLBACKING'],
  MUTATING: ['STARTING', 'ROLLBACKING'],
  STARTING: ['VERIFYING', 'ROLLBACKING'],
  VERIFYING: ['COMPLETED', 'ROLLBACKING'],
  COMPLETED: [],
  ROLLBACKING: ['ROLLED_BACK', 'FAILED_ROLLBACK'],
  ROLLED_BACK: [],
  FAILED_ROLLBACK: [],
};

/** The eight action primitives in their order (spec "Action Primitives"). */
export const UPGRADE_ACTION_NAMES = [
  'backup_state',
  'acquire_artifact',
  'verify_artifact',
  'stop_node',
  'install_artifact',
  'write_configs',
  'reload_daemon',
  'start_node',
] as const;
export type UpgradeActionName = (typeof UPGRADE_ACTION_NAMES)[number];

/** Phase shown while an action runs (spec "Phase Reporting"). */
export const PHASE_OF_ACTION: Readonly<Record<UpgradeActionName, UpgradePhase>> = {
  backup_state: 'PREPARING',
  acquire_artifact: 'PREPARING',
  verify_artifact: 'PREPARING',
  stop_node: 'STOPPED',
  install_artifact: 'MUTATING',
  write_configs: 'MUTATING',
  reload_daemon: 'MUTATING',
  start_node: 'STARTING',
};

/** One step of an attempt: an action primitive, or a step of the vendor between them. */
export type UpgradeStepName = UpgradeActionName | HookStepName;

const PHASE_OF_HOOK: Readonly<Record<HookPoint, UpgradePhase>> = {
  before_stop: 'PREPARING',
  duty: 'PREPARING',
  after_install: 'MUTATING',
  after_health: 'VERIFYING',
  on_error: 'ROLLBACKING',
};

/** Phase shown while a step runs; null for a name that is none. */
export function phaseOfStep(name: UpgradeStepName): UpgradePhase;
export function phaseOfStep(name: string): UpgradePhase | null;
export function phaseOfStep(name: string): UpgradePhase | null {
  const point = hookPointOf(name);
  if (point !== null) return PHASE_OF_HOOK[point];
  return UPGRADE_ACTION_NAMES.some((action) => action === name) ? PHASE_OF_ACTION[name as UpgradeActionName] : null;
}
