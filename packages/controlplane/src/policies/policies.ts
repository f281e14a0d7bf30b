import { isDeepStrictEqual } from 'node:util';
import type { PutPolicyInput } from '@hoodcloud/contracts/http/policies';
import type { PolicyKind } from '@hoodcloud/contracts/policies/policy-document';
import type { Selectable } from 'kysely';
import type { Db } from '../db/database.ts';
import type { PoliciesTable } from '../db/generated/tables.ts';
import { json } from '../db/json.ts';
import { appendEvent } from '../events/append-event.ts';
import { wakeActiveRollouts } from './wake-active-rollouts.ts';

export interface PolicyRef {
  readonly kind: PolicyKind;
  readonly name: string;
}

type PolicyRow = Selectable<PoliciesTable>;

/** The row of a policy, locked; null when there is none. Two people who make the same one wait for each other. */
export async function lockPolicy(tx: Db, { kind, name }: PolicyRef): Promise<PolicyRow | null> {
  const row = await tx
    .selectFrom('policies')
    .selectAll()
    .where('kind', '=', kind)
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

/** Whether a put would change nothing. */
export function isAsSaid(row: PolicyRow, said: PutPolicyInput): boolean {
  return (
    isDeepStrictEqual(row.spec, JSON.parse(JSON.stringify(said.spec))) && row.managed_by === (said.managed_by ?? null)
  );
}

/** Writes a policy as it is to be, with its event, and has every rollout under way judge its waits anew. */
export async function writePolicy(
  tx: Db,
  { kind, name }: PolicyRef,
  before: PolicyRow | null,
  { spec, managed_by = null, reason, actor }: PutPolicyInput & { readonly actor: string },
): Promise<void> {
  const values = { spec: json(spec), managed_by, updated_by: actor, updated_at: new Date() };
  const { id } = before
    ? await tx
        .updateTable('policies')
        .set({ ...values, revision: before.revision + 1 })
        .where('id', '=', before.id)
        .returning('id')
        .executeTakeFirstOrThrow()
    : await tx
        .insertInto('policies')
        .values({ kind, name, ...values, created_by: actor })
        .returning('id')
        .executeTakeFirstOrThrow();
  await appendEvent(tx, {
    kind: before ? 'policy_changed' : 'policy_created',
    subjectType: 'policy',
    subjectId: id,
    actor,
    data: {
      kind,
      name,
      before: specOf(before),
      after: spec as Record<string, unknown>,
      managed_by,
      reason: reason ?? null,
    },
  });
  await wakeActiveRollouts(tx);
}

/** Takes a policy away, with its event, and has every rollout under way judge its waits anew. */
export async function removePolicy(tx: Db, row: PolicyRow, actor: string): Promise<void> {
  await tx.deleteFrom('policies').where('id', '=', row.id).execute();
  const data = { kind: row.kind, name: row.name, before: specOf(row), after: null, managed_by: row.managed_by };
  await appendEvent(tx, { kind: 'policy_deleted', subjectType: 'policy', subjectId: row.id, actor, data });
  await wakeActiveRollouts(tx);
}

function specOf(row: PolicyRow | null): Record<string, unknown> | null {
  return row === null ? null : (row.spec as Record<string, unknown>);
}
