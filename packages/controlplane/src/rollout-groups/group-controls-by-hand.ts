import { groupControlVerdict, skippableComponent } from '@hoodcloud/domain/group-control-verdict';
import type { Db } from '../db/database.ts';
import type { GroupControlByHand } from '../workflows/activity-types.ts';
import type { GroupRow } from './group-row.ts';
import { loadGroupSnapshot } from './load-group-snapshot.ts';
import { applyAtOnce, storeGroupControl } from './order-group-control.ts';

const ACTOR = 'signal:temporal';

/**
 * Stores control signals that somebody sent straight to the group's workflow, so that they hold like any other (C7a). The
 * id was made when the signal arrived, so a repeated question stores nothing twice. One that is not legal now is left
 * out: there is nobody to answer 409 to.
 * @returns the group as it is then
 */
export async function storeGroupControlsByHand(
  db: Db,
  group: GroupRow,
  controls: readonly GroupControlByHand[],
  now: number,
): Promise<GroupRow> {
  let row = group;
  for (const { id, kind } of controls) {
    const snapshot = await loadGroupSnapshot(db, row, now);
    if (!groupControlVerdict(kind, snapshot).legal) continue;
    const control = {
      id,
      groupId: group.id,
      kind,
      componentIndex: kind === 'skip' ? skippableComponent(snapshot) : null,
      actor: ACTOR,
      reason: 'sent to the workflow by hand',
    };
    if (await storeGroupControl(db, control)) row = await applyAtOnce(db, control, row);
  }
  return row;
}
