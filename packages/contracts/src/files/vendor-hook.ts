import { HOOK_POINTS } from '@hoodcloud/domain/vendor-hook';
import { z } from 'zod';

export const MAX_HOOKS = 16;

/** Program and arguments: no line for a shell. */
export const hookCommandSchema = z
  .array(z.string().max(1000))
  .min(1)
  .max(64)
  .refine(
    ([program = '']) => program === '{binary}' || program.startsWith('/'),
    'must begin with "{binary}" or the absolute path of a program; it is no line for a shell',
  );

/** A step of the vendor, in a chain's `runtime.yaml` or in an upgrade's manifest. */
const vendorHookSchema = z
  .strictObject({
    name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'must be 1 to 40 lower-case letters, digits and "-"'),
    /** A question about a duty stands in `duties` of `profile.yaml`. */
    at: z.enum(HOOK_POINTS).exclude(['duty']),
    command: hookCommandSchema,
    timeout_seconds: z.number().positive().max(86_400).default(60),
    /** What takes the step back on the way back; `none` needs `acknowledge_state_risk` of whoever creates the rollout. */
    undo: z.union([z.literal('none'), hookCommandSchema]),
    /** May run again when an agent that died leaves it in doubt; otherwise it counts as failed. */
    repeatable: z.boolean().default(false),
  })
  .refine(({ at, undo }) => at !== 'on_error' || undo === 'none', {
    path: ['undo'],
    message: 'must be none at on_error: it runs on the way back itself, after which nothing goes back',
  });
export type VendorHookFile = z.infer<typeof vendorHookSchema>;

export const vendorHooksSchema = z
  .array(vendorHookSchema)
  .max(MAX_HOOKS)
  .refine((hooks) => new Set(hooks.map(({ name }) => name)).size === hooks.length, 'has a name twice')
  .default([]);
