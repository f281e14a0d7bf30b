/** A rule that people may set aside for one rollout, as its gate names it. */
export interface OverridableRule {
  /** Kind and name, such as `freeze/payout`; what an override names. */
  readonly name: string;
  /** How many different people must set it aside. */
  readonly persons: 1 | 2;
}

/** One person's word that a rule does not hold for a rollout, until it expires. */
export interface RuleOverride {
  /** `OverridableRule.name`. */
  readonly rule: string;
  readonly actor: string;
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Whether enough different people have set the rule aside, by overrides that have not expired. */
export function isOverridden(rule: OverridableRule, overrides: readonly RuleOverride[], now: number): boolean {
  const standing = overrides.filter((one) => one.rule === rule.name && now < one.expiresAt);
  return new Set(standing.map(({ actor }) => actor)).size >= rule.persons;
}
