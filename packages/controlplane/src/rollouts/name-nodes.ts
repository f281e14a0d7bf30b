import type { Reason } from '@hoodcloud/domain/reasons';
import type { RolloutDecision } from '@hoodcloud/domain/rollout-decision';
import type { Db } from '../db/database.ts';

const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Puts names where the domain, which knows ids only, tells of nodes: people read these sentences (C11). */
export async function nameNodesIn(db: Db, reasons: readonly Reason[]): Promise<Reason[]> {
  const ids = reasons.flatMap(({ params }) => String(params.node ?? '').match(UUIDS) ?? []);
  if (ids.length === 0) return [...reasons];
  const rows = await db.selectFrom('nodes').select(['id', 'name']).where('id', 'in', ids).execute();
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return reasons.map((reason) => {
    if (typeof reason.params.node !== 'string') return reason;
    const node = reason.params.node.replace(UUIDS, (id) => names.get(id) ?? id);
    return { ...reason, params: { ...reason.params, node } };
  });
}

/** The same for everything that a decision says. */
export async function nameNodesOf(db: Db, decision: RolloutDecision): Promise<RolloutDecision> {
  const [first] = 'reason' in decision ? await nameNodesIn(db, [decision.reason]) : [];
  const reasons = 'reasons' in decision ? await nameNodesIn(db, decision.reasons) : null;
  return { ...decision, ...(first && { reason: first }), ...(reasons && { reasons }) };
}
