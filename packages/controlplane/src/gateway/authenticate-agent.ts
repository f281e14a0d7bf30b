import type { Db } from '../db/database.ts';
import { hashAgentSecret, sameHash } from './agent-secret.ts';
import { NotAuthenticatedError } from './gateway-error.ts';

/** Who a credential speaks for. */
export interface AuthenticatedNode {
  readonly nodeId: string;
  readonly nodeName: string;
  readonly chainProfileId: string;
  readonly credentialId: string;
  /** Sessions before this moment belonged to another credential. */
  readonly credentialCreatedAt: Date;
}

/**
 * The node of a credential (B3).
 * @throws NotAuthenticatedError when it is unknown or revoked, or the node is no more
 */
export async function authenticateAgent(db: Db, secret: string): Promise<AuthenticatedNode> {
  const hash = hashAgentSecret(secret);
  const row = await db
    .selectFrom('agent_credentials')
    .innerJoin('nodes', 'nodes.id', 'agent_credentials.node_id')
    .select([
      'nodes.id',
      'nodes.name',
      'nodes.state',
      'nodes.chain_profile_id',
      'agent_credentials.id as credential_id',
      'agent_credentials.secret_hash',
      'agent_credentials.created_at',
      'agent_credentials.revoked_at',
    ])
    .where('secret_hash', '=', hash)
    .executeTakeFirst();
  if (!row || !sameHash(row.secret_hash, hash)) throw new NotAuthenticatedError(`the credential is unknown: ${REJOIN}`);
  if (row.revoked_at) throw new NotAuthenticatedError(revokedSentence(row.name));
  if (row.state === 'terminated' || row.state === 'failed') {
    throw new NotAuthenticatedError(`node ${row.name} is ${row.state}: its agent has nothing to do any more`);
  }
  return {
    nodeId: row.id,
    nodeName: row.name,
    chainProfileId: row.chain_profile_id,
    credentialId: row.credential_id,
    credentialCreatedAt: row.created_at,
  };
}

const REJOIN = 'make a join token with `hoodctl node join-token` and join the agent again';

/** Why the credential of a node that joined anew is refused. */
export function revokedSentence(nodeName: string): string {
  return `the credential of ${nodeName} was revoked when the node joined anew: ${REJOIN}`;
}
