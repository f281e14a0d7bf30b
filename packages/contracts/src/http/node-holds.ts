import { z } from 'zod';
import { timestampSchema, whySchema } from './common.ts';

const YEAR_SECONDS = 366 * 86_400;
const expiresInSeconds = z.number().int().min(60).max(YEAR_SECONDS);

/** Body of `POST /nodes/{id}/hold`: nobody changes the node until then. */
export const holdNodeSchema = z
  .strictObject({ reason: whySchema, expires_in_seconds: expiresInSeconds })
  .meta({ id: 'HoldNode', examples: [{ reason: 'its disk is being moved', expires_in_seconds: 172_800 }] });
export type HoldNodeRequest = z.infer<typeof holdNodeSchema>;

/** Body of `POST /nodes/{id}/pin`: a component stays at a version. */
export const pinNodeSchema = z
  .strictObject({
    /** May be left out when the node has one component. */
    binary_name: z.string().min(1).max(100).optional(),
    /** What it is known to run, when left out. */
    version: z.string().min(1).max(50).optional(),
    reason: whySchema,
    /** Until somebody releases it, when left out. */
    expires_in_seconds: expiresInSeconds.optional(),
  })
  .meta({ id: 'PinNode', examples: [{ reason: 'the auditors want the old version until June' }] });
export type PinNodeRequest = z.infer<typeof pinNodeSchema>;

/** What a person keeps a node from: `hold` from being changed, `pin` from leaving its version. */
export const nodeHoldSchema = z
  .object({
    kind: z.enum(['hold', 'pin']),
    /** The component of a pin; null: the whole node. */
    binary_name: z.string().nullable(),
    version: z.string().nullable(),
    actor: z.string(),
    reason: z.string(),
    created_at: timestampSchema,
    /** null: until somebody releases it. */
    expires_at: timestampSchema.nullable(),
  })
  .meta({ id: 'NodeHold' });
export type NodeHoldView = z.infer<typeof nodeHoldSchema>;

/** One hold or pin in a line, e.g. `held until 2026-01-02T00:00:00.000Z by key:ann: its disk is being moved`. */
export function holdText({ kind, binary_name, version, actor, reason, expires_at }: NodeHoldView): string {
  const what = kind === 'hold' ? 'held' : `${binary_name} pinned to ${version}`;
  return `${what} ${expires_at === null ? 'until released' : `until ${expires_at}`} by ${actor}: ${reason}`;
}
