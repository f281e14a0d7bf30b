import { FileFormatError } from '@hoodcloud/contracts/files/yaml-file';
import type { FieldError } from '@hoodcloud/contracts/http/problem';
import { planDifferences } from '@hoodcloud/domain/plan-differences';
import { TemplateError } from '../config-rendering/go-template-renderer.ts';
import type { Db } from '../db/database.ts';
import { appendEvent } from '../events/append-event.ts';
import { ConfigFileNotFoundError } from '../manifests/config-dir.ts';
import { createPrepared } from '../rollouts/create-rollout.ts';
import { databaseNow } from '../rollouts/database-clock.ts';
import { orderControl } from '../rollouts/order-control.ts';
import { type PreparedRollout, prepareRollout, type RolloutSources } from '../rollouts/prepare-rollout.ts';
import { PlanRefusedError } from './plan-errors.ts';
import { planFacts } from './plan-facts.ts';
import { lockPlan, type SavedPlanRow } from './saved-plan-row.ts';

export interface StartOrder {
  readonly planId: string;
  readonly actor: string;
  readonly reason?: string | undefined;
}

/**
 * Creates the rollout of a saved plan and starts it, when everything the plan rests on is as it was; all in the caller's
 * transaction. The rollout is for the nodes that the plan names, whoever joins meanwhile.
 * @returns the rollout's id
 * @throws PlanRefusedError with every difference; RolloutActiveError when the chain is taken; as `orderControl`
 */
export async function startPlan(tx: Db, sources: RolloutSources, order: StartOrder): Promise<string> {
  const plan = await lockPlan(tx, order.planId);
  await refuseOver(tx, plan);
  const { prepared, differences } = await comparePlan(tx, sources, plan);
  if (prepared === null || differences.length > 0) throw changed(differences);
  const { actor, reason } = order;
  const { rolloutId } = plan;
  await createPrepared(tx, onlyPlanned(prepared, plan), { id: rolloutId, actor });
  await orderControl(tx, sources, { rolloutId, kind: 'start', actor, reason });
  await tx
    .updateTable('rollout_plans')
    .set({ started_by: actor, started_at: new Date(await databaseNow(tx)) })
    .where('id', '=', plan.id)
    .execute();
  await appendEvent(tx, {
    kind: 'rollout_plan_started',
    subjectType: 'rollout_plan',
    subjectId: plan.id,
    rolloutId,
    actor,
    data: { saved_by: plan.savedBy, reason: reason ?? null },
  });
  return rolloutId;
}

export interface Comparison {
  /** Null: it can't even be planned any more. */
  readonly prepared: PreparedRollout | null;
  readonly differences: readonly FieldError[];
}

/** What is not as it was when the plan was saved. */
export async function comparePlan(
  db: Db,
  sources: RolloutSources,
  { request, rolloutId, facts }: Pick<SavedPlanRow, 'request' | 'rolloutId' | 'facts'>,
): Promise<Comparison> {
  try {
    const prepared = await prepareRollout(db, sources, request, rolloutId);
    return { prepared, differences: planDifferences(facts, await planFacts(db, prepared)) };
  } catch (error) {
    const gone = error instanceof ConfigFileNotFoundError || error instanceof TemplateError;
    if (gone) return { prepared: null, differences: [{ field: '', code: error.code, message: error.message }] };
    if (!(error instanceof FileFormatError)) throw error;
    const { code } = error;
    return { prepared: null, differences: error.problems.map((message) => ({ field: '', code, message })) };
  }
}

async function refuseOver(tx: Db, { startedAt, expiresAt, rolloutId }: SavedPlanRow): Promise<void> {
  if (startedAt !== null) {
    const message = `The plan was started already, as rollout ${rolloutId}: save another one.`;
    throw new PlanRefusedError('plan_started', message, { details: { rollout_id: rolloutId } });
  }
  if (expiresAt.getTime() > (await databaseNow(tx))) return;
  throw new PlanRefusedError('plan_expired', `The plan expired at ${expiresAt.toISOString()}: plan again and save it.`);
}

function changed(errors: readonly FieldError[]): PlanRefusedError {
  const what = errors.length === 1 ? 'One thing is' : `${errors.length} things are`;
  return new PlanRefusedError('plan_changed', `${what} not as planned; plan again.`, { errors });
}

function onlyPlanned(prepared: PreparedRollout, { facts }: SavedPlanRow): PreparedRollout {
  const request = { ...prepared.draft.request, node_ids: Object.keys(facts.nodes) };
  return { ...prepared, draft: { ...prepared.draft, request } };
}
