import type { FailurePolicy } from '../rollout-group-status.ts';
import { type Violation, violation } from './violation.ts';

/** A rollout group that someone wants to create. */
export interface GroupRuleInput {
  /** In their order. */
  readonly componentOrder: readonly { readonly binaryName: string; readonly componentIndex: number }[];
  /** `binary_name` to version. */
  readonly desiredVersions: Readonly<Record<string, string>>;
  /** Null: not given; there is no default. */
  readonly failurePolicy: FailurePolicy | null;
}

function orderedIndexes({ componentOrder }: GroupRuleInput): Violation[] {
  const found: Violation[] = [];
  const seen = new Set<number>();
  componentOrder.forEach(({ binaryName, componentIndex }, position) => {
    const field = `component_order[${position}].component_index`;
    if (seen.has(componentIndex)) {
      const message = `component_index ${componentIndex} of ${binaryName} is taken: each component has its own.`;
      found.push(violation(8, 'component_index_duplicate', field, message));
    } else if (componentIndex !== position) {
      const message = `${binaryName} stands at place ${position} and has component_index ${componentIndex}: make them the same.`;
      found.push(violation(8, 'component_order_mismatch', field, message));
    }
    seen.add(componentIndex);
  });
  return found;
}

function completeGroup({ componentOrder, desiredVersions, failurePolicy }: GroupRuleInput): Violation[] {
  const found: Violation[] = [];
  if (failurePolicy === null) {
    const message = 'failure_policy is required: partial_ok, rollback_all or manual.';
    found.push(violation(9, 'failure_policy_missing', 'failure_policy', message));
  }
  const wanted = Object.keys(desiredVersions);
  if (wanted.length === 0) {
    const message = 'desired_versions is empty: name at least one component and its version.';
    found.push(violation(9, 'desired_versions_empty', 'desired_versions', message));
  }
  const ordered = new Set(componentOrder.map((component) => component.binaryName));
  componentOrder.forEach(({ binaryName }, position) => {
    const field = `component_order[${position}].binary_name`;
    if (componentOrder.findIndex((other) => other.binaryName === binaryName) < position) {
      found.push(violation(9, 'component_duplicate', field, `${binaryName} is named twice: a group upgrades it once.`));
    } else if (wanted.length > 0 && !wanted.includes(binaryName)) {
      const message = `${binaryName} has no entry in desired_versions: say which version it is to have.`;
      found.push(violation(9, 'component_not_desired', field, message));
    }
  });
  const missing = wanted.filter((name) => !ordered.has(name));
  if (missing.length > 0) {
    const message = `component_order leaves out ${missing.join(', ')}: every entry of desired_versions needs its place.`;
    found.push(violation(9, 'component_order_incomplete', 'component_order', message));
  }
  return found;
}

/** Rules 8 and 9: every one that is broken. */
export function checkGroupRules(input: GroupRuleInput): Violation[] {
  return [...orderedIndexes(input), ...completeGroup(input)];
}
