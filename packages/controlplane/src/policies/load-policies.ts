import {
  type NamedPolicy,
  POLICY_SPECS,
  type PolicyKind,
  type PolicySpec,
} from '@hoodcloud/contracts/policies/policy-document';
import type { Db } from '../db/database.ts';

/** Every policy of a kind that stands, by name. */
export async function loadPolicies<Kind extends PolicyKind>(db: Db, kind: Kind): Promise<NamedPolicy<Kind>[]> {
  const rows = await db
    .selectFrom('policies')
    .select(['name', 'spec'])
    .where('kind', '=', kind)
    .orderBy('name')
    .execute();
  const schema = POLICY_SPECS[kind];
  return rows.map(({ name, spec }) => ({ name, spec: schema.parse(spec) as PolicySpec<Kind> }));
}
