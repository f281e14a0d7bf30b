import { PATHS } from '@hoodcloud/contracts/http/api-paths';
import type { SavedPlanDetail } from '@hoodcloud/contracts/http/rollout-plans';
import type { CreateRolloutInput } from '@hoodcloud/contracts/http/rollout-requests';
import type { CommandIo } from '../command-io.ts';
import type { ExitCode } from '../exit-code.ts';
import { planExitCode } from '../rollouts/plan-text.ts';
import { renderSavedPlan } from './saved-plan-text.ts';

export interface SaveFlags {
  readonly request: CreateRolloutInput;
  /** Milliseconds. */
  readonly validFor?: number;
  readonly reason?: string;
}

/** Saves a plan and shows it; exits as `rollout plan` does. */
export async function savePlan(io: CommandIo, { request, validFor, reason }: SaveFlags): Promise<ExitCode> {
  const api = await io.api();
  const saved = await api.post<SavedPlanDetail>(PATHS.savedPlans, {
    request,
    ...(validFor !== undefined && { valid_for_ms: validFor }),
    ...(reason !== undefined && { reason }),
  });
  io.answer(saved, renderSavedPlan);
  io.remark(`Saved; nothing has begun. Next: hoodctl plan start ${saved.id} --watch`);
  return planExitCode(saved.plan);
}
