import type { GroupSnapshot } from '../group-snapshot.ts';
import type { Reason } from '../reasons.ts';
import type { RolloutSnapshot } from '../rollout-snapshot.ts';
import type { AttemptFacts } from '../why/attempt-why.ts';
import { whyGroupWaits } from '../why/group-why.ts';
import { type IdleNodeFacts, whyIdleNodeWaits } from '../why/idle-node-why.ts';
import { whyNodeWaits } from '../why/node-why.ts';
import { whyRolloutWaits } from '../why/rollout-why.ts';
import { aSnapshot, type SnapshotParts } from './snapshot-builder.ts';

/** For tests: a rollout, and what is asked: the rollout itself or one of its nodes. */
export interface RolloutWhyCase {
  readonly kind: 'rollout';
  readonly snapshot: RolloutSnapshot;
  /** The reason of the rollout's status as it was told. */
  readonly told: Reason | null;
  /** The node that is asked; null: the rollout. */
  readonly node: string | null;
  readonly attempt: AttemptFacts;
  /** How long earlier runs took for a step, in milliseconds. */
  readonly earlier: Readonly<Record<string, number>>;
}

/** For tests: a node that is in no rollout. */
export interface IdleWhyCase {
  readonly kind: 'idle';
  readonly node: IdleNodeFacts;
}

/** For tests: a group. */
export interface GroupWhyCase {
  readonly kind: 'group';
  readonly snapshot: GroupSnapshot;
}

export type WhyCase = RolloutWhyCase | IdleWhyCase | GroupWhyCase;

/** A case that asks for a rollout. */
export function ofRollout(parts: SnapshotParts, told: Reason | null = null): RolloutWhyCase {
  const attempt = { nodeId: '', command: null, health: [], statusReason: null };
  const statusReason = told === null ? {} : { statusReason: told.code };
  const snapshot = aSnapshot({ ...parts, rollout: { ...statusReason, ...parts.rollout } });
  return { kind: 'rollout', snapshot, told, node: null, attempt, earlier: {} };
}

/** A case that asks for a node of a rollout. */
export function ofNode(
  node: string,
  parts: SnapshotParts,
  attempt: Partial<AttemptFacts> = {},
  earlier: RolloutWhyCase['earlier'] = {},
): RolloutWhyCase {
  const whole = ofRollout(parts);
  return { ...whole, node, attempt: { ...whole.attempt, nodeId: node, ...attempt }, earlier };
}

/** What the domain answers to a case; nodes have their ids in it. */
export function answerOf(it: WhyCase, now: number): readonly Reason[] {
  if (it.kind === 'idle') return whyIdleNodeWaits(it.node, now);
  if (it.kind === 'group') return whyGroupWaits(it.snapshot, now);
  const { snapshot, told, node, attempt, earlier } = it;
  if (node === null) return whyRolloutWaits(snapshot, told, now).reasons;
  const row = snapshot.nodes.find(({ nodeId }) => nodeId === node);
  if (row === undefined) throw new Error(`the case has no node ${node}`);
  const agent = snapshot.fleet.get(node);
  const usual = (action: string) => earlier[action] ?? null;
  return whyNodeWaits(row, { attempt, agent, usual }, () => whyRolloutWaits(snapshot, told, now));
}
