import { type CreateRolloutRequest, createRolloutSchema } from '@hoodcloud/contracts/http/rollout-requests';
import type { PlanFacts } from '@hoodcloud/domain/plan-differences';
import type { Db } from '../db/database.ts';
import { notFound } from '../http/problem-error.ts';

/** A saved plan as its start reads it. */
export interface SavedPlanRow {
  readonly id: string;
  readonly request: CreateRolloutRequest;
  readonly facts: PlanFacts;
  readonly rolloutId: string;
  readonly savedBy: string;
  readonly expiresAt: Date;
  readonly startedAt: Date | null;
}

/** Locks a plan, so that it is started once. @throws ProblemError 404 when there is none */
export async function lockPlan(tx: Db, id: string): Promise<SavedPlanRow> {
  const row = await tx
    .selectFrom('rollout_plans')
    .select(['id', 'request', 'facts', 'rollout_id', 'saved_by', 'expires_at', 'started_at'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound('rollout_plan', id);
  return {
    id: row.id,
    request: createRolloutSchema.parse(row.request),
    facts: row.facts as PlanFacts,
    rolloutId: row.rollout_id,
    savedBy: row.saved_by,
    expiresAt: row.expires_at,
    startedAt: row.started_at,
  };
}
