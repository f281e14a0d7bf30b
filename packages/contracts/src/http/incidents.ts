import { z } from 'zod';
import { pageQuerySchema, pageSchema, severitySchema, timestampSchema, uuidSchema } from './common.ts';

/** Spec "Incident Categories"; `identity_cloned` is B3. */
export const INCIDENT_CATEGORIES = [
  'upgrade_failed',
  'upgrade_rollback_failed',
  'upgrade_stalled',
  'height_passed',
  'identity_cloned',
] as const;
/** Where the runbooks are when no setting names another place: in the source tree. */
export const DEFAULT_RUNBOOKS = 'docs/runbooks';

/**
 * The page that says what an incident of this category means and what to do.
 * @param base a URL or a path without the page's name (`HOODCLOUD_RUNBOOKS`)
 */
export function runbookOf(category: (typeof INCIDENT_CATEGORIES)[number], base: string): string {
  return `${base.replace(/\/+$/, '')}/${category}.md`;
}

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
    /** A URL, or a path in the source tree: what it means and what to do. */
    runbook: z.string(),
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
