import { checksumGiven, imageChecksumPrefixed, imagePinned } from './rollout-rules/artifact-rules.ts';
import { orderMakesSense } from './rollout-rules/order-rules.ts';
import { numbersMakeSense } from './rollout-rules/range-rules.ts';
import type { RolloutRuleInput } from './rollout-rules/rollout-rule-input.ts';
import { breakingIsGuarded, chainIsFree, manifestHashed, versionChanges } from './rollout-rules/version-rules.ts';
import type { Violation } from './rollout-rules/violation.ts';

export type { ArtifactKind, RolloutRuleInput } from './rollout-rules/rollout-rule-input.ts';
export type { RuleId, Violation } from './rollout-rules/violation.ts';

/** The rules of one rollout, in the specification's order; those of a group are in `rollout-rules/group-rules.ts`. */
const RULES = [
  checksumGiven,
  imageChecksumPrefixed,
  imagePinned,
  versionChanges,
  chainIsFree,
  manifestHashed,
  breakingIsGuarded,
  numbersMakeSense,
  orderMakesSense,
];

/** Every rule that the rollout breaks, in the order of the rules; empty when it may be created. */
export function checkRolloutRules(input: RolloutRuleInput): Violation[] {
  return RULES.flatMap((rule) => rule(input));
}
