import type { PolicyView } from '@hoodcloud/contracts/http/policies';
import { covers, type PolicyScope, type ScopedNode } from '@hoodcloud/domain/policy-scope';
import type { Selectable } from 'kysely';
import type { Db } from '../db/database.ts';
import type { PoliciesTable } from '../db/generated/tables.ts';
import { timestamp } from '../http/timestamps.ts';

/** Policies as people read them, each with how many nodes it covers; the fleet is read once for all of them. */
export async function policyViews(db: Db, rows: readonly Selectable<PoliciesTable>[]): Promise<PolicyView[]> {
  const fleet = rows.length === 0 ? [] : await scopedFleet(db);
  return rows.map((row) => {
    const spec = row.spec as PolicyView['spec'] & { readonly scope?: PolicyScope };
    const covered = fleet.filter((node) => covers(spec.scope ?? {}, node)).length;
    const { id, name, revision, managed_by, created_by, updated_by } = row;
    return {
      id,
      kind: row.kind,
      name,
      spec,
      revision,
      managed_by,
      created_by,
      created_at: timestamp(row.created_at),
      updated_by,
      updated_at: timestamp(row.updated_at),
      covered_nodes: covered,
    };
  });
}

async function scopedFleet(db: Db): Promise<ScopedNode[]> {
  const rows = await db
    .selectFrom('nodes')
    .select(['chain_profile_id', 'node_type', 'labels'])
    .where('state', 'not in', ['terminated', 'failed'])
    .execute();
  return rows.map((row) => ({
    chainProfileId: row.chain_profile_id,
    nodeType: row.node_type,
    labels: row.labels as ScopedNode['labels'],
  }));
}
