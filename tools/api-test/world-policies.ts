import { POLICY_SPECS, type PolicyKind } from '@hoodcloud/contracts/policies/policy-document';
import type { Database } from '@hoodcloud/controlplane/db/database';
import { json } from '@hoodcloud/controlplane/db/json';
import type { ApiFixture } from '@hoodcloud/controlplane/http/testing/api-fixture';

/** The chains of the rollouts that `overrideRule` is tried upon begin so; the freeze of its example holds them. */
const OVERRIDDEN = 'overriderule';
const COPIES = [0, 1, 2];

/** One of each kind that stands in nobody's way, to be read, changed and taken away. */
const HARMLESS: Readonly<Record<PolicyKind, object>> = {
  disruption_budget: { max_unavailable: 100 },
  maintenance_window: {
    scope: { chains: ['nobodys'] },
    time_zone: 'Europe/Berlin',
    weekly: [{ days: ['mon'], from: '22:00', to: '04:00' }],
  },
  freeze: {
    scope: { chains: ['nobodys'] },
    from: '2020-01-01T00:00:00Z',
    to: '2020-01-02T00:00:00Z',
    reason: 'long over',
  },
};
const PAYOUT = {
  scope: { chains: COPIES.map((copy) => `${OVERRIDDEN}-${copy}`) },
  from: '2020-01-01T00:00:00Z',
  to: '2100-01-01T00:00:00Z',
  reason: 'payout week',
};

const camel = (kind: PolicyKind) => kind.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Policies for each kind's operations, and the freeze that can be set aside. */
export async function addPolicies(
  { database: { db } }: ApiFixture,
  add: (operation: string, parameters: Readonly<Record<string, string>>) => void,
): Promise<void> {
  for (const kind of Object.keys(HARMLESS) as PolicyKind[]) {
    for (const copy of COPIES) {
      for (const verb of ['get', 'delete']) add(`${verb}${camel(kind)}`, { name: `policy-${copy}` });
      add(`put${camel(kind)}`, { name: `new-${copy}` });
    }
  }
  await restorePolicies(db);
}

/** Takes away what requests have made, and makes again what they took away. */
export async function restorePolicies(db: Database): Promise<void> {
  await db.deleteFrom('policies').where('name', 'like', 'new-%').execute();
  const standing = (Object.keys(HARMLESS) as PolicyKind[]).flatMap((kind) =>
    COPIES.map((copy) => ({ kind, name: `policy-${copy}`, spec: json(POLICY_SPECS[kind].parse(HARMLESS[kind])) })),
  );
  const freeze = { kind: 'freeze', name: 'payout', spec: json(POLICY_SPECS.freeze.parse(PAYOUT)) } as const;
  await db
    .insertInto('policies')
    .values([...standing, freeze].map((row) => ({ ...row, created_by: 'system:test', updated_by: 'system:test' })))
    .onConflict((conflict) => conflict.columns(['kind', 'name']).doNothing())
    .execute();
}
