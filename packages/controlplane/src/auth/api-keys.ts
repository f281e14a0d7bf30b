import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { SCOPES, type Scope } from '@hoodcloud/contracts/http/scopes';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { appendEvent } from '../events/append-event.ts';
import type { Identity } from './actor.ts';
import { type Authenticator, unauthorized } from './dual-auth-middleware.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Compared with when there is no such key, so that the time taken says nothing. */
const NO_HASH = Buffer.alloc(32);

/** SHA-256 of the secret: it has 256 random bits, so nothing slower is needed. */
export function hashApiKeySecret(secret: string): Buffer {
  return createHash('sha256').update(secret, 'utf8').digest();
}

export interface NewApiKey {
  readonly name: string;
  readonly createdBy: string;
  /** `admin` when left out: the first keys are made by who runs the server. */
  readonly scopes?: readonly Scope[];
  readonly reason?: string | undefined;
  /** A key chosen beforehand, e.g. of a development server; made here when left out. */
  readonly secret?: string;
}

/**
 * Stores a new key; its scopes are what the backend grants it (spec "API Surface").
 * @returns id and the whole key `hc_<id>.<secret>`, which is shown this once
 */
export async function createApiKey(
  db: Db,
  { name, createdBy, secret, scopes = ['admin'], reason }: NewApiKey,
): Promise<{ id: string; key: string }> {
  const chosen = secret ?? randomBytes(32).toString('base64url');
  const { id } = await db
    .insertInto('api_keys')
    .values({ name, secret_hash: hashApiKeySecret(chosen), scopes: [...scopes], created_by: createdBy })
    .returning('id')
    .executeTakeFirstOrThrow();
  await appendEvent(db, {
    kind: 'api_key_created',
    subjectType: 'api_key',
    subjectId: id,
    actor: createdBy,
    data: { name, scopes: [...scopes], reason: reason ?? null },
  });
  return { id, key: `hc_${id}.${chosen}` };
}

/** Makes a key useless at once; said again it changes nothing. */
export async function revokeApiKey(db: Db, id: string, actor: string): Promise<void> {
  const row = await db
    .updateTable('api_keys')
    .set({ revoked_at: new Date() })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('name')
    .executeTakeFirst();
  if (!row) return;
  const data = { name: row.name };
  await appendEvent(db, { kind: 'api_key_revoked', subjectType: 'api_key', subjectId: id, actor, data });
}

/** Scopes of a row; a name of an older or newer version than ours grants nothing. */
export function knownScopes(stored: readonly string[]): Scope[] {
  return SCOPES.filter((scope) => stored.includes(scope));
}

/** Tells who sends `hc_<id>.<secret>`. */
export function apiKeyAuthenticator(db: Database): Authenticator {
  return {
    authenticate: async (credentials) => {
      if (!credentials.startsWith('hc_')) return null;
      const [id = '', secret = ''] = credentials.slice('hc_'.length).split('.', 2);
      return identityOf(db, id, secret);
    },
  };
}

async function identityOf(db: Database, id: string, secret: string): Promise<Identity> {
  const row = UUID.test(id)
    ? await db
        .selectFrom('api_keys')
        .select(['name', 'secret_hash', 'scopes', 'revoked_at'])
        .where('id', '=', id)
        .executeTakeFirst()
    : undefined;
  const same = timingSafeEqual(hashApiKeySecret(secret), row?.secret_hash ?? NO_HASH);
  if (!row || !same || row.revoked_at !== null) throw unauthorized('The API key is unknown or was revoked.');
  await noteUse(db, id);
  return { actor: `key:${row.name}`, scopes: knownScopes(row.scopes) };
}

/** Once a minute is enough to see which keys are in use. */
async function noteUse(db: Database, id: string): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ last_used_at: sql`now()` })
    .where('id', '=', id)
    .where((where) =>
      where.or([where('last_used_at', 'is', null), where('last_used_at', '<', sql<Date>`now() - interval '1 minute'`)]),
    )
    .execute();
}
