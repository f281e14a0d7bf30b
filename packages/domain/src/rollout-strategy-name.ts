/** Spec "Rollout Strategies". */
export const ROLLOUT_STRATEGIES = ['rolling', 'canary', 'all_at_once'] as const;
export type RolloutStrategyName = (typeof ROLLOUT_STRATEGIES)[number];

/** Spec "State Compatibility Validation". */
export const MIGRATION_TYPES = ['none', 'compatible', 'breaking'] as const;
export type MigrationType = (typeof MIGRATION_TYPES)[number];
