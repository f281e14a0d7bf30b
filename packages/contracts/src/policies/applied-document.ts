import { z } from 'zod';
import { createRolloutSchema } from '../http/rollout-requests.ts';
import { disruptionBudgetSchema } from './disruption-budget.ts';
import { freezeSchema } from './freeze.ts';
import { maintenanceWindowSchema } from './maintenance-window.ts';
import { policyNameSchema } from './policy-document.ts';

const document = <Kind extends string, Spec extends z.ZodType>(kind: Kind, spec: Spec) =>
  z.strictObject({ kind: z.literal(kind), name: policyNameSchema, spec });

/** One document of `hoodctl apply -f`: a policy, a rollout to be created once, or what a chain is expected to be. */
export const appliedDocumentSchema = z.discriminatedUnion('kind', [
  document('disruption_budget', disruptionBudgetSchema),
  document('maintenance_window', maintenanceWindowSchema),
  document('freeze', freezeSchema),
  document('rollout', createRolloutSchema.omit({ name: true })),
  document('chain', z.record(z.string(), z.unknown())),
]);
export type AppliedDocument = z.infer<typeof appliedDocumentSchema>;
