import { z } from 'zod';
import { pageQuerySchema, pageSchema, severitySchema, timestampSchema, uuidSchema } from './common.ts';

/** Spec "Incident Categories"; `identity_cloned` is B3. */
export const INCIDENT_CATEGORIES = [
  'upgrade_failed',
  'upgrade_rollback_failed',
  'upgrade_stalled',
  'identity_cloned',
] as const;
export const INCIDENT_STATUSES = ['open', 'acknowledged', 'resolved'] as const;

export const incidentSchema = z
  .object({
    id: uuidSchema,
    category: z.enum(INCIDENT_CATEGORIES),
    severity: severitySchema,
    status: z.enum(INCIDENT_STATUSES),
    node_id: uuidSchema.nullable(),
    node_name: z.string().nullable(),
    rollout_id: uuidSchema.nullable(),
    summary: z.string(),
    recovery_plan: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
    created_at: timestampSchema,
    acknowledged_at: timestampSchema.nullable(),
    acknowledged_by: z.string().nullable(),
    resolved_at: timestampSchema.nullable(),
    resolved_by: z.string().nullable(),
  })
  .meta({ id: 'Incident' });
export type IncidentView = z.infer<typeof incidentSchema>;

export const incidentListQuerySchema = pageQuerySchema.extend({
  status: z.enum(INCIDENT_STATUSES).optional(),
  node_id: uuidSchema.optional(),
  rollout_id: uuidSchema.optional(),
});
export const incidentPageSchema = pageSchema(incidentSchema);
