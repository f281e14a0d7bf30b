import type { StartApproval } from '@hoodcloud/domain/trust/trust-rules';
import type { Selectable } from 'kysely';
import { isPerson, isSamePerson } from '../auth/same-person.ts';
import type { Db } from '../db/database.ts';
import type { RolloutsTable } from '../db/generated/tables.ts';

/**
 * The second person's word for a rollout before its first node. It is due when the chain demanded it at creation or does now:
 * a chain that is told to take less in between does not let through what was created before.
 * @param demandedNow what the chain's profile says at this moment
 * @returns null when it is not due
 */
export async function loadStartApproval(
  db: Db,
  { id, start_approval, created_by: creator }: Selectable<RolloutsTable>,
  demandedNow: boolean,
): Promise<StartApproval | null> {
  if (!demandedNow && !start_approval) return null;
  const said = await db
    .selectFrom('rollout_controls')
    .select('actor')
    .where('rollout_id', '=', id)
    .where('kind', '=', 'approve_canary')
    .orderBy('seq')
    .execute();
  for (const { actor } of said) {
    // judged again though the order was: the demand may be younger than the order, and a signal sent by hand is nobody
    if (isPerson(actor) && !(await isSamePerson(db, creator, actor))) return { creator, approvedBy: actor };
  }
  return { creator, approvedBy: null };
}
