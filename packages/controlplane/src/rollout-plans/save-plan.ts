import { randomUUID } from 'node:crypto';
import type { RolloutPlanView } from '@hoodcloud/contracts/http/rollout-plan';
import type { SaveRolloutPlanRequest } from '@hoodcloud/contracts/http/rollout-plans';
import type { PlanFacts } from '@hoodcloud/domain/plan-differences';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { json } from '../db/json.ts';
import { appendEvent } from '../events/append-event.ts';
import { prepareRollout, type RolloutSources } from '../rollouts/prepare-rollout.ts';
import { RolloutRulesError } from '../rollouts/rollout-errors.ts';
import { planView } from '../rollouts/rollout-plan.ts';
import { planFacts } from './plan-facts.ts';

/** A plan that is about to be saved. */
export interface MadePlan {
  readonly rolloutId: string;
  readonly plan: RolloutPlanView;
  readonly facts: PlanFacts;
}

/**
 * Makes a plan to be saved, outside of any transaction since artifacts are asked for. The chain may be taken at present: a
 * plan is often for what comes afterwards.
 * @throws RolloutRulesError when any other rule is broken
 */
export async function makePlan(
  db: Db,
  sources: RolloutSources,
  request: SaveRolloutPlanRequest['request'],
): Promise<MadePlan> {
  const rolloutId = randomUUID();
  const prepared = await prepareRollout(db, sources, request, rolloutId);
  const broken = prepared.violations.filter(({ rule }) => rule !== 5);
  if (broken.length > 0) throw new RolloutRulesError(broken);
  const plan = await planView(db, sources, prepared, { mayCreate: true, id: rolloutId });
  return { rolloutId, plan, facts: await planFacts(db, prepared) };
}

/** Saves it with its event. @returns its id */
export async function savePlan(
  tx: Db,
  { request, valid_for_ms, reason }: SaveRolloutPlanRequest,
  { rolloutId, plan, facts }: MadePlan,
  actor: string,
): Promise<string> {
  const { id } = await tx
    .insertInto('rollout_plans')
    .values({
      chain_profile_id: request.chain_profile_id,
      request: json(request),
      plan: json(plan),
      facts: json(facts),
      rollout_id: rolloutId,
      saved_by: actor,
      reason: reason ?? null,
      expires_at: sql<Date>`now() + ${valid_for_ms} * interval '1 millisecond'`,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await appendEvent(tx, {
    kind: 'rollout_plan_saved',
    subjectType: 'rollout_plan',
    subjectId: id,
    actor,
    data: {
      chain_profile_id: request.chain_profile_id,
      target_version: plan.target_version,
      reason: reason ?? null,
    },
  });
  return id;
}
