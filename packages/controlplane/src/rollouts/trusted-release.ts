import { trustStands } from '@hoodcloud/domain/start-gates/trust';
import type { Db } from '../db/database.ts';
import { type ChainLimits, loadOverrides, loadTrustOf } from './load-rollout-snapshot.ts';
import type { RolloutRow } from './rollout-row.ts';

/**
 * Whether a rollout's release may reach hosts at all: making ready ahead downloads it and tries it there, so that waits for
 * the trust rules as the first start does (the gate `trust`).
 */
export async function isTrustedRelease(db: Db, chains: ChainLimits, rollout: RolloutRow, now: Date): Promise<boolean> {
  const facts = await loadTrustOf(db, rollout, chains);
  if (facts === null) return true;
  const begun = await db
    .selectFrom('rollout_nodes')
    .select('id')
    .where('rollout_id', '=', rollout.id)
    .where('attempt_count', '>', 0)
    .limit(1)
    .executeTakeFirst();
  return begun !== undefined || trustStands(facts, await loadOverrides(db, rollout.id), now.getTime());
}
