import type { ScopeGrantView } from '@hoodcloud/contracts/http/scope-grants';
import type { Scope } from '@hoodcloud/contracts/http/scopes';
import type { Selectable } from 'kysely';
import type { Db } from '../db/database.ts';
import type { ScopeGrantsTable } from '../db/generated/tables.ts';
import { appendEvent } from '../events/append-event.ts';
import { timestamp, timestampOrNull } from '../http/timestamps.ts';

export interface NewScopeGrant {
  /** `sub` of the tokens. */
  readonly subject: string;
  readonly scope: Scope;
  readonly actor: string;
  readonly reason?: string | undefined;
}

/** Grants a scope to who comes with tokens of this subject. @returns the grant's id. @throws a unique violation when it stands */
export async function grantScope(db: Db, { subject, scope, actor, reason }: NewScopeGrant): Promise<string> {
  const { id } = await db
    .insertInto('scope_grants')
    .values({ subject, scope, granted_by: actor, reason: reason ?? null })
    .returning('id')
    .executeTakeFirstOrThrow();
  const data = { subject, scope, reason: reason ?? null };
  await appendEvent(db, { kind: 'scope_granted', subjectType: 'scope_grant', subjectId: id, actor, data });
  return id;
}

/** Takes a grant back at once; said again it changes nothing. */
export async function revokeScope(db: Db, id: string, actor: string): Promise<void> {
  const row = await db
    .updateTable('scope_grants')
    .set({ revoked_at: new Date(), revoked_by: actor })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning(['subject', 'scope'])
    .executeTakeFirst();
  if (!row) return;
  await appendEvent(db, { kind: 'scope_revoked', subjectType: 'scope_grant', subjectId: id, actor, data: { ...row } });
}

/** What stands for a subject now; asked at every request, so that a revocation counts at once. */
export async function grantsOf(db: Db, subject: string): Promise<Scope[]> {
  const rows = await db
    .selectFrom('scope_grants')
    .select('scope')
    .where('subject', '=', subject)
    .where('revoked_at', 'is', null)
    .execute();
  return rows.map(({ scope }) => scope);
}

export function scopeGrantView(row: Selectable<ScopeGrantsTable>): ScopeGrantView {
  return { ...row, granted_at: timestamp(row.granted_at), revoked_at: timestampOrNull(row.revoked_at) };
}
