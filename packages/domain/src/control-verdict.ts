import { effectiveControls } from './effective-controls.ts';
import type { NodeUpgradeStatus } from './node-upgrade-status.ts';
import { CONTROL_LEGAL_IN, type RolloutControlKind } from './rollout-control.ts';
import type { RolloutSnapshot } from './rollout-snapshot.ts';
import type { RolloutDirection, RolloutStatus } from './rollout-status.ts';
import { canaryBatchEnded } from './rollout-strategy/canary.ts';
import type { MigrationType, RolloutStrategyName } from './rollout-strategy-name.ts';
import { startApprovalDue } from './start-gates/trust.ts';

/** The node that a control names. */
export interface ControlNodeFacts {
  readonly status: NodeUpgradeStatus;
  readonly attemptDirection: RolloutDirection;
  /** A newer rollout that has touched the node; null when none has. */
  readonly newerRolloutId: string | null;
}

/** What decides whether a control is legal beyond the rollout's status. */
export interface ControlFacts {
  readonly status: RolloutStatus;
  readonly direction: RolloutDirection;
  readonly strategy: RolloutStrategyName;
  readonly migrationType: MigrationType;
  /** A pause was ordered and the rollout is still running. */
  readonly pausePending: boolean;
  /** A cancel was ordered and the rollout has not ended yet. */
  readonly cancelPending: boolean;
  /** The canary batch exists and has ended. */
  readonly canaryBatchEnded: boolean;
  /** Its chain demands a second person's word before the first node, and nobody has given it. */
  readonly startApprovalDue?: boolean;
  readonly succeededNodes: number;
  /** A newer rollout that has touched nodes of this one; null when none has (C3). */
  readonly newerRolloutId: string | null;
  /** For `retry` and `skip`; null when the rollout has no such node. */
  readonly node: ControlNodeFacts | null;
  /** The rollout is a component of a group. */
  readonly inGroup?: boolean;
}

export type ControlVerdict =
  | { readonly legal: true }
  | { readonly legal: false; readonly code: string; readonly message: string };

const LEGAL: ControlVerdict = { legal: true };

function refuse(code: string, message: string): ControlVerdict {
  return { legal: false, code, message };
}

type Details = (facts: ControlFacts) => ControlVerdict;
const always: Details = () => LEGAL;

function resume({ status, pausePending }: ControlFacts): ControlVerdict {
  if (status === 'paused' || pausePending) return LEGAL;
  return refuse('not_paused', 'The rollout is running and no pause is pending: there is nothing to resume.');
}

function approve(facts: ControlFacts): ControlVerdict {
  if (facts.startApprovalDue) return LEGAL;
  if (facts.strategy !== 'canary' || facts.migrationType !== 'breaking') {
    const what = `Only a canary rollout of a breaking migration waits for an approval, and one whose chain demands a second person before its first node; this one is ${facts.strategy}`;
    return refuse('approval_not_needed', `${what} with migration_type ${facts.migrationType}.`);
  }
  if (facts.direction === 'rollback') {
    return refuse('approval_not_needed', 'The rollout is being rolled back, which waits for no approval.');
  }
  if (facts.canaryBatchEnded) return LEGAL;
  return refuse('canary_not_ended', 'The canary batch has not ended: look at its nodes and approve it then.');
}

function rollback({ succeededNodes, newerRolloutId, status, direction }: ControlFacts): ControlVerdict {
  if (direction === 'rollback' && (status === 'running' || status === 'paused')) {
    return refuse('rollback_under_way', 'The rollout is being rolled back already.');
  }
  if (succeededNodes === 0) return refuse('nothing_to_roll_back', 'No node of the rollout has succeeded.');
  if (newerRolloutId === null) return LEGAL;
  return refuse('newer_rollout', `Rollout ${newerRolloutId} has changed nodes of this one since: roll that one back.`);
}

function retry({ node, direction }: ControlFacts): ControlVerdict {
  if (node === null) return refuse('node_not_in_rollout', 'The node is not part of the rollout.');
  if (node.status !== 'failed' && node.status !== 'rolled_back') {
    return refuse(
      'node_not_retryable',
      `The node is ${node.status}: only failed and rolled_back nodes can be retried.`,
    );
  }
  if (direction === 'rollback' && node.attemptDirection === 'upgrade') {
    return refuse(
      'rolled_back',
      'The rollout was rolled back, so the node is not upgraded any more: create a new rollout.',
    );
  }
  if (node.newerRolloutId === null) return LEGAL;
  return refuse('newer_rollout', `Rollout ${node.newerRolloutId} has changed the node since: retry it there.`);
}

function skip({ node }: ControlFacts): ControlVerdict {
  if (node === null) return refuse('node_not_in_rollout', 'The node is not part of the rollout.');
  if (node.status === 'pending') return LEGAL;
  return refuse('node_not_pending', `The node is ${node.status}: only pending nodes can be skipped.`);
}

const DETAILS: Readonly<Record<RolloutControlKind, Details>> = {
  start: always,
  pause: always,
  resume,
  cancel: always,
  force: always,
  approve_canary: approve,
  rollback,
  retry,
  skip,
};

/** What ends or turns a component is ordered of its group, which keeps the order of its components (C2, C10). */
const ORDERED_OF_THE_GROUP: readonly RolloutControlKind[] = ['start', 'cancel', 'rollback'];

/** Controls that a pending cancel leaves legal: a second cancel changes nothing, a rollback is another direction. */
const LEGAL_WHILE_CANCELING: readonly RolloutControlKind[] = ['cancel', 'rollback'];

/**
 * Whether a person may order the control now; when not, a stable code and the sentence the operator reads (409). One
 * table of control and status (`CONTROL_LEGAL_IN`) and what a rollout's details add to it (C3, C6, C8).
 */
export function controlVerdict(kind: RolloutControlKind, facts: ControlFacts): ControlVerdict {
  const legalIn = CONTROL_LEGAL_IN[kind];
  if (!legalIn.includes(facts.status)) {
    return refuse(
      'control_not_legal',
      `${kind} is legal for ${legalIn.join(', ')} rollouts; this one is ${facts.status}.`,
    );
  }
  if (facts.inGroup && ORDERED_OF_THE_GROUP.includes(kind)) {
    return refuse('belongs_to_group', `The rollout is a component of a group: order ${kind} of the group.`);
  }
  if (facts.cancelPending && !LEGAL_WHILE_CANCELING.includes(kind)) {
    return refuse('canceling', 'The rollout is being canceled; a cancel cannot be taken back.');
  }
  return DETAILS[kind](facts);
}

/**
 * The facts as a snapshot shows them. What other rollouts did is not in a snapshot, so the caller adds it.
 * @param nodeId the node that `retry` or `skip` names
 */
export function controlFacts(
  snapshot: RolloutSnapshot,
  newer: { readonly rollout: string | null; readonly node: string | null },
  nodeId: string | null = null,
): ControlFacts {
  const { status, direction, strategy, migrationType, targetsResolved } = snapshot.rollout;
  const controls = effectiveControls(snapshot.controls);
  const row = nodeId === null ? undefined : snapshot.nodes.find((node) => node.nodeId === nodeId);
  return {
    status,
    direction,
    strategy,
    migrationType,
    pausePending: status === 'running' && controls.pause !== null,
    cancelPending: controls.cancel !== null,
    canaryBatchEnded: targetsResolved && canaryBatchEnded(snapshot),
    startApprovalDue: startApprovalDue(snapshot),
    succeededNodes: snapshot.nodes.filter((node) => node.status === 'succeeded').length,
    inGroup: (snapshot.rollout.groupFailurePolicy ?? null) !== null,
    newerRolloutId: newer.rollout,
    node:
      row === undefined
        ? null
        : { status: row.status, attemptDirection: row.attemptDirection, newerRolloutId: newer.node },
  };
}
