import { z } from 'zod';
import { disruptionBudgetSchema } from './disruption-budget.ts';
import { freezeSchema } from './freeze.ts';
import { maintenanceWindowSchema } from './maintenance-window.ts';

/** What kinds of policies there are, and what each says. */
export const POLICY_SPECS = {
  disruption_budget: disruptionBudgetSchema,
  maintenance_window: maintenanceWindowSchema,
  freeze: freezeSchema,
} as const;
export type PolicyKind = keyof typeof POLICY_SPECS;
export type PolicySpec<Kind extends PolicyKind> = z.infer<(typeof POLICY_SPECS)[Kind]>;

/** Name of a policy, one of its kind; `kind/name` names it in reasons and overrides. */
export const policyNameSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,99}$/, 'must be lower-case letters, digits, ".", "_" and "-"');

/** A policy that stands. */
export interface NamedPolicy<Kind extends PolicyKind> {
  readonly name: string;
  readonly spec: PolicySpec<Kind>;
}
