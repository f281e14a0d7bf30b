import { nextStepOf } from '@hoodcloud/domain/why/waiting-reasons';
import type { ChainView } from './chains.ts';
import type { ReasonView } from './common.ts';
import type { EventView } from './events.ts';
import type { RolloutBatchesView, RolloutNodeView, RolloutView } from './rollout-views.ts';

/** `v1 → v2`, the way a rollout takes; a rollback goes back to what each node had. */
export function versionsOf(rollout: RolloutView): string {
  const source = rollout.source_version ?? 'the version each node has';
  return rollout.direction === 'rollback'
    ? `${rollout.target_version} → ${source} (rollback)`
    : `${source} → ${rollout.target_version}`;
}

/** How far it is, e.g. `3 of 4 succeeded, 1 failed`. */
export function progressOf(rollout: RolloutView): string {
  const { succeeded_nodes: succeeded, failed_nodes: failed, skipped_nodes: skipped, total_nodes: total } = rollout;
  if (total === 0) return 'the nodes are chosen when it starts';
  const rest = skipped > 0 ? `, ${skipped} skipped` : '';
  return `${succeeded} of ${total} succeeded, ${failed} failed${rest}`;
}

/** What batch a node is in: batch 0 of a canary rollout is the canaries'. */
export function batchName(rollout: Pick<RolloutView, 'strategy'>, batchIndex: number): string {
  return rollout.strategy === 'canary' && batchIndex === 0 ? 'canary' : String(batchIndex);
}

/** Batch of a node, `-` for none; `3 late` of one that came while the rollout ran. */
export function nodeBatchName(
  rollout: Pick<RolloutView, 'strategy'>,
  { batch_index, late }: Pick<RolloutNodeView, 'batch_index' | 'late'>,
): string {
  if (batch_index < 0) return '-';
  return `${batchName(rollout, batch_index)}${late ? ' late' : ''}`;
}

type BatchRangeView = RolloutBatchesView['items'][number];

/** `canary`, `batch 3`, `batches 4 to 90`, or `left out`. */
export function batchRangeName(rollout: Pick<RolloutView, 'strategy'>, range: BatchRangeView): string {
  const { first_batch: first, last_batch: last } = range;
  if (first < 0) return 'left out';
  if (first !== last) return `batches ${first} to ${last}`;
  const name = batchName(rollout, first);
  return name === String(first) ? `batch ${name}` : name;
}

/** `4 in progress, 6 succeeded` */
export function batchCountsText({ counts }: BatchRangeView): string {
  return counts.map(({ status, nodes }) => `${nodes} ${status.replaceAll('_', ' ')}`).join(', ');
}

/** How far a node is with making ready ahead, e.g. `staged`, `not ready: the disk is full`; null when nobody asked. */
export function stagedText({ staged, online }: Pick<RolloutNodeView, 'staged' | 'online'>): string | null {
  if (staged === null) return null;
  const { state, goal, error } = staged;
  if (state === 'armed' && goal !== 'armed') return online ? 'armed, being disarmed' : 'armed, unreachable';
  if (state === null) return online ? 'waiting' : 'not ready: its agent is offline';
  if (state === 'not_ready') return `not ready: ${error ?? 'nobody knows why'}`;
  if (state === 'armed' && error !== null) return `armed: ${error}`;
  if (state === 'activated') return 'swapped at the height';
  return state === 'unstaged' ? 'removed' : state;
}

/** Why something is as it is, in one line: the reasons' own sentences. */
export function sentencesOf(reasons: readonly ReasonView[]): string {
  return reasons.map(({ sentence }) => sentence).join(' ');
}

/** What a person can do about what it waits for; null when it goes on by itself. */
export function nextStep(reasons: readonly ReasonView[]): string | null {
  const steps = reasons.flatMap(({ code }) => nextStepOf(code) ?? []);
  return steps.find((step) => !step.startsWith('Nothing')) ?? null;
}

/** What happened in one line: the reason says why, and a person's own words are quoted. */
export function eventText({ kind, data }: Pick<EventView, 'kind' | 'data'>): string {
  const said = typeof data.reason === 'string' && data.reason !== '' ? `: “${data.reason}”` : '';
  return `${happeningText({ kind, data })}${said}`;
}

/** What happened, in a few words; why is beside it (`whyText`). */
export function happeningText({ kind, data }: Pick<EventView, 'kind' | 'data'>): string {
  const phase = typeof data.phase === 'string' ? data.phase : null;
  const to = typeof data.to === 'string' ? data.to.replaceAll('_', ' ') : null;
  if (kind === 'node_upgrade_phase_changed') return phase ?? to ?? 'phase changed';
  if (kind === 'rollout_control_ordered' || kind === 'group_control_ordered')
    return `ordered: ${String(data.kind ?? data.control ?? '?')}`;
  if (kind.startsWith('node_upgrade_') && to) return phase ? `${to} (${phase})` : to;
  if (kind === 'node_state_changed' && to) return `node is ${to}`;
  return kind.replaceAll('_', ' ');
}

/** Why: what the person said who ordered it, else the reason's sentence; null when neither is there. */
export function whyText({ reason, data }: EventView): string | null {
  const said = typeof data.reason === 'string' && data.reason !== '' ? data.reason : null;
  return said ?? reason?.sentence ?? null;
}

/** How old a release of a chain must be, in words. */
export function cooldownText(trust: ChainView['trust']): string | undefined {
  if (!trust) return undefined;
  const { minimum_release_age_hours: hours } = trust;
  return hours === null || hours === 0 ? 'none: a release of any age' : `a release must be ${hours} h old`;
}

/** Who approves a chain's rollouts before their first node, in words. */
export function startApprovalText(trust: ChainView['trust']): string | undefined {
  if (!trust) return undefined;
  return trust.approvals === null ? 'nobody has to approve' : 'somebody else than who created the rollout approves';
}

/** Where a chain's artifacts may come from, in words. */
export function originsText(trust: ChainView['trust']): string | undefined {
  return trust ? (trust.allowed_origins?.join(', ') ?? 'anywhere') : undefined;
}
