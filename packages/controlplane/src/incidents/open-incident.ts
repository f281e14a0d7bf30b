import type { INCIDENT_CATEGORIES } from '@hoodcloud/contracts/http/incidents';
import type { Reason, ReasonSeverity } from '@hoodcloud/domain/reasons';
import type { Db } from '../db/database.ts';
import { json } from '../db/json.ts';
import { appendEvent } from '../events/append-event.ts';

export interface NewIncident {
  readonly category: (typeof INCIDENT_CATEGORIES)[number];
  readonly severity: ReasonSeverity;
  readonly nodeId: string | null;
  readonly rolloutId: string | null;
  /** One open incident per cause: the attempt's id, or `<category>:<node>` for what belongs to no attempt. */
  readonly dedupeKey: string;
  /** One sentence: what happened and what the operator should do. */
  readonly summary: string;
  /** The manifest's, shown with the incident (spec "Post-rollback crash loop"). */
  readonly recoveryPlan?: string | null;
  readonly reason: Reason;
  readonly actor: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * Opens an incident unless one of the same cause is open already, and appends the event, in the caller's transaction.
 * @returns the id of the incident that is open for this cause now
 */
export async function openIncident(db: Db, incident: NewIncident): Promise<string> {
  const opened = await db
    .insertInto('incidents')
    .values({
      category: incident.category,
      severity: incident.severity,
      node_id: incident.nodeId,
      rollout_id: incident.rolloutId,
      dedupe_key: incident.dedupeKey,
      summary: incident.summary,
      recovery_plan: incident.recoveryPlan ?? null,
      details: json(incident.details ?? {}),
    })
    .onConflict((conflict) => conflict.column('dedupe_key').where('status', '<>', 'resolved').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!opened) return idOfOpen(db, incident.dedupeKey);
  await appendEvent(db, {
    kind: 'incident_opened',
    subjectType: 'incident',
    subjectId: opened.id,
    rolloutId: incident.rolloutId,
    nodeId: incident.nodeId,
    reason: incident.reason,
    severity: incident.severity,
    actor: incident.actor,
    data: { category: incident.category, summary: incident.summary },
  });
  return opened.id;
}

async function idOfOpen(db: Db, dedupeKey: string): Promise<string> {
  const { id } = await db
    .selectFrom('incidents')
    .select('id')
    .where('dedupe_key', '=', dedupeKey)
    .where('status', '<>', 'resolved')
    .executeTakeFirstOrThrow();
  return id;
}
