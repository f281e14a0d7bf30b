import { z } from 'zod';

/**
 * One entry of `rollouts.config_changes`: everything that rendering needs, as it was when the rollout was created, so that a
 * file that changes later changes nothing about a rollout (E3).
 */
export const storedConfigChangeSchema = z.object({
  path: z.string(),
  template: z.string(),
  /** The template's text. */
  text: z.string(),
  /** The chain's variables. */
  variables: z.record(z.string(), z.string()),
  /** The manifest's `overrides`; they win over the chain's and the node's variables. */
  overrides: z.record(z.string(), z.string()),
  /** The chain's `secret_variables`; rollouts of earlier versions of the control plane have none. */
  secret_variables: z.array(z.string()).default([]),
});
export type StoredConfigChange = z.infer<typeof storedConfigChangeSchema>;

/** Reads the column. @throws ZodError when somebody else wrote it */
export function parseConfigChanges(column: unknown): StoredConfigChange[] {
  return z.array(storedConfigChangeSchema).parse(column);
}
