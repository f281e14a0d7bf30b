import { isPrefixedSha256 } from '../checksum.ts';
import type { RolloutRuleInput } from './rollout-rule-input.ts';
import { type Violation, violation } from './violation.ts';

/** Rule 4 as E6 settles it: the version changes, or at least a config file does. */
export function versionChanges({ sourceVersion, targetVersion, configChangeCount }: RolloutRuleInput): Violation[] {
  if (sourceVersion !== targetVersion || configChangeCount > 0) return [];
  const message = `The target version ${targetVersion} is the source version and no config changes: nothing would be done.`;
  return [violation(4, 'same_version', 'target_version', message)];
}

/** Rule 5: one active rollout or group a chain. The database's index decides when two come at once. */
export function chainIsFree({ activeRolloutId }: RolloutRuleInput): Violation[] {
  if (activeRolloutId === null) return [];
  const message = `Rollout ${activeRolloutId} is active on this chain: let it end or cancel it first.`;
  return [violation(5, 'active_rollout', 'chain_profile_id', message)];
}

/** Rule 6: the manifest's content hash is stored. */
export function manifestHashed({ manifestContentHash }: RolloutRuleInput): Violation[] {
  const field = 'manifest_content_hash';
  if (manifestContentHash === null || manifestContentHash.trim() === '') {
    const message = 'The manifest content hash is missing: give upgrade_id, or the hash of the manifest you used.';
    return [violation(6, 'manifest_hash_missing', field, message)];
  }
  if (isPrefixedSha256(manifestContentHash)) return [];
  const message = `"${manifestContentHash}" is no content hash: give "sha256:" and 64 hex digits.`;
  return [violation(6, 'manifest_hash_malformed', field, message)];
}

/** Rule 7: what a breaking migration must bring along, each piece named. */
export function breakingIsGuarded(input: RolloutRuleInput): Violation[] {
  if (input.migrationType !== 'breaking') return [];
  const found: Violation[] = [];
  if ((input.recoveryPlan ?? '').trim() === '') {
    const message =
      'A breaking migration needs a recovery_plan: its rollback may leave nodes that cannot read their state.';
    found.push(violation(7, 'recovery_plan_missing', 'recovery_plan', message));
  }
  if (input.strategy !== 'canary') {
    const message = `A breaking migration needs the canary strategy, not ${input.strategy}.`;
    found.push(violation(7, 'canary_required', 'strategy', message));
  }
  if (!input.acknowledgeStateRisk) {
    const message = 'A breaking migration needs acknowledge_state_risk: true.';
    found.push(violation(7, 'state_risk_not_acknowledged', 'acknowledge_state_risk', message));
  }
  return found;
}
