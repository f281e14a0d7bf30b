import type { MigrationType } from './rollout-strategy-name.ts';

/** How far a rollback can be promised (spec "Rollback Guarantee Tiers"). */
export interface RollbackTier {
  readonly tier: 1 | 2 | 3;
  readonly guarantee: string;
  /** How a node gets well when the rollback is not enough. */
  readonly recovery: 'automatic' | 'reprovisioning';
}

export const ROLLBACK_TIERS: Readonly<Record<MigrationType, RollbackTier>> = {
  none: { tier: 1, guarantee: 'Previous binary and configs are restored.', recovery: 'automatic' },
  compatible: {
    tier: 2,
    guarantee: 'Binary and configs are restored; the old binary reads the state that the new one wrote.',
    recovery: 'automatic',
  },
  breaking: {
    tier: 3,
    guarantee: 'Binary and configs are restored, but the old binary may not read the chain state and may crash-loop.',
    recovery: 'reprovisioning',
  },
};

/** Tier that a manifest's `migration_type` declares. */
export function rollbackTier(migrationType: MigrationType): RollbackTier {
  return ROLLBACK_TIERS[migrationType];
}
