import type { EventView } from './events.ts';
import type { RolloutNodeView, RolloutView } from './rollout-views.ts';

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

/** What the node does at this moment, or how it ended. */
export function activityOf(node: RolloutNodeView): string {
  const { command } = node;
  if (node.status === 'in_progress' && command?.action_name) {
    const pct = command.progress_pct === null ? '' : ` ${command.progress_pct} %`;
    return `${command.action_name}${pct}${command.note ? ` (${command.note})` : ''}`;
  }
  if (node.status === 'validating') {
    const missing = node.health_reasons.map(({ sentence }) => sentence).join(' ');
    return missing === '' ? 'proving health' : `proving health: ${missing}`;
  }
  return node.error_message ?? node.status_reason?.sentence ?? '';
}

/** What happened, in a few words; the reason says why. */
export function eventText({ kind, data }: EventView): string {
  const phase = typeof data.phase === 'string' ? data.phase : null;
  const to = typeof data.to === 'string' ? data.to : null;
  if (kind === 'node_upgrade_phase_changed') return phase ?? to ?? 'phase changed';
  if (kind === 'rollout_control_ordered') return `ordered: ${String(data.kind ?? data.control ?? '?')}`;
  if (kind.startsWith('node_upgrade_') && to) return phase ? `${to} (${phase})` : to;
  if (kind === 'node_state_changed' && to) return `node is ${to}`;
  return kind.replaceAll('_', ' ');
}
