import type {
  ComponentProgress,
  RolloutGroupDetail,
  RolloutGroupPlanView,
  RolloutGroupStatusView,
  RolloutGroupView,
} from '@hoodcloud/contracts/http/rollout-groups';
import { renderAge, renderDuration } from '@hoodcloud/domain/duration-text';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { renderPairs, renderTable } from '../output/table.ts';
import { whyLines } from '../output/why-lines.ts';
import { renderPlan } from '../rollouts/plan-text.ts';

/** One group in full, for people. */
export function renderGroup(group: RolloutGroupDetail, now: Date): string {
  const pairs = renderPairs([
    ['Group', group.id],
    ['Chain', `${group.chain_profile_id} (${group.node_type})`],
    ['Policy', group.failure_policy],
    ['Strategy', group.strategy],
    ['Gate', `the next component waits up to ${renderDuration(group.gate_timeout_ms)} for healthy nodes`],
    ['Status', `${group.status}${group.direction === 'rollback' ? ' (rollback)' : ''}`],
    ['Reason', group.status_reason?.sentence],
    ['Created', `${renderAge(group.created_at, now)} by ${group.created_by}`],
    ['Possible', group.legal_controls.length > 0 ? group.legal_controls.join(', ') : undefined],
  ]);
  return [pairs, ...whyLines(group)].join('');
}

/** Where a component stands, in one word. */
function standingOf({ status, skipped, direction }: ComponentProgress): string {
  if (status === null) return skipped ? 'skipped' : 'not begun';
  if (skipped && status === 'canceled') return 'skipped';
  return direction === 'rollback' && status === 'running' ? 'rolling back' : status;
}

/** Per-component progress. */
export function renderComponents(components: readonly ComponentProgress[]): string {
  const rows = components.map((component) => [
    component.component_index,
    component.binary_name,
    component.target_version,
    standingOf(component),
    component.rollout_id === null ? null : `${component.succeeded_nodes}/${component.total_nodes}`,
    component.rollout_id === null ? null : component.failed_nodes,
    component.rollout_id,
  ]);
  return renderTable(['#', 'component', 'target', 'status', 'succeeded', 'failed', 'rollout'], rows);
}

/** Status and progress, for people. */
export function renderGroupStatus(group: RolloutGroupStatusView): string {
  const head = renderPairs([
    ['Group', group.id],
    ['Status', `${group.status}${group.direction === 'rollback' ? ' (rollback)' : ''} (${group.failure_policy})`],
    ['Reason', group.status_reason?.sentence],
  ]);
  return [head, ...whyLines(group), renderComponents(group.components)].join('');
}

/** A list of groups. */
export function renderGroups(groups: readonly RolloutGroupView[], now: Date): string {
  const rows = groups.map((group) => [
    group.id,
    group.chain_profile_id,
    Object.entries(group.desired_versions)
      .map(([binary, version]) => `${binary} ${version}`)
      .join(', '),
    group.failure_policy,
    group.status,
    renderAge(group.created_at, now),
  ]);
  return renderTable(['id', 'chain', 'versions', 'policy', 'status', 'created'], rows);
}

/** Each component's plan in its order, then what is wrong. */
export function renderGroupPlan(plan: RolloutGroupPlanView): string {
  const components = plan.components.map(
    ({ component_index, binary_name, plan: one }) =>
      `Component ${component_index}: ${binary_name}\n${renderPlan({ ...one, violations: [] })}\n`,
  );
  const wrong = plan.violations.map(({ code, field, message }) => `  - ${field}: ${message} (${code})\n`);
  return [...components, ...(wrong.length > 0 ? [`✗ It can't be created like this:\n`, ...wrong] : [])].join('');
}

/** What a group's plan means for scripts. */
export function groupPlanExitCode({ violations, components }: RolloutGroupPlanView): ExitCode {
  if (violations.length > 0) return EXIT.failed;
  const changes = components.some(({ plan }) => plan.batches.some(({ nodes }) => nodes.length > 0));
  return changes ? EXIT.planWouldChange : EXIT.done;
}
