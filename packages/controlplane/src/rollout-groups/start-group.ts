import type { Db } from '../db/database.ts';
import type { TargetSources } from '../rollouts/judge-targets.ts';
import { targetSpecOf } from '../rollouts/prepare-rollout.ts';
import { refuseWithoutTargets } from '../rollouts/start-targets.ts';
import type { GroupRow } from './group-row.ts';
import { storedComponents } from './stored-component.ts';

/**
 * Refuses a start whose first component could do nothing (C4). Later components are judged when their turn comes: what
 * they need may be what the earlier ones bring.
 * @throws NoEligibleNodesError with each node's reason
 */
export async function refuseGroupWithoutTargets(
  db: Db,
  sources: TargetSources,
  group: GroupRow,
  now: number,
): Promise<void> {
  const [first] = storedComponents(group.component_order);
  if (!first) throw new Error(`group ${group.id} has no component`);
  await refuseWithoutTargets(db, sources, targetSpecOf(first.draft, group.id), now);
}
