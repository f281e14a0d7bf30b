import { status } from '@grpc/grpc-js';
import type { JoinRequest } from '@hoodcloud/contracts/wire/agent-v1';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { appendEvent } from '../events/append-event.ts';
import { hashAgentSecret, newAgentCredential } from './agent-secret.ts';
import { closeStreamsOfNode } from './agent-session-store.ts';
import { JoinRefusedError } from './gateway-error.ts';
import { platformOf, storableText } from './storable-json.ts';

const ACTOR = 'system:gateway';

export interface JoinedNode {
  readonly nodeId: string;
  readonly nodeName: string;
  /** Goes to the agent and is forgotten here. */
  readonly credential: string;
}

/**
 * Exchanges a one-time join token for the node's own credential (B3). The exchange is one transaction: a token is never
 * used up without a credential, nor a credential made twice. The node's old credential is revoked, its streams end, and
 * a quarantine is lifted, since a clone can't know the new credential.
 * @throws JoinRefusedError (UNAUTHENTICATED: unknown, used or expired token; FAILED_PRECONDITION: the node is no more)
 */
export async function joinAgent(db: Database, request: JoinRequest): Promise<JoinedNode> {
  const tokenHash = hashAgentSecret(request.joinToken);
  return db.transaction().execute(async (tx) => {
    const token = await tx
      .updateTable('join_tokens')
      .set({ used_at: sql<Date>`now()` })
      .where('token_hash', '=', tokenHash)
      .where('used_at', 'is', null)
      .where('expires_at', '>', sql<Date>`now()`)
      .returning('node_id')
      .executeTakeFirst();
    if (!token) throw await refusal(tx, tokenHash);
    const node = await tx
      .selectFrom('nodes')
      .select(['id', 'name', 'state', 'quarantined_at'])
      .where('id', '=', token.node_id)
      .forUpdate()
      .executeTakeFirstOrThrow();
    if (node.state === 'terminated' || node.state === 'terminating' || node.state === 'failed') {
      throw new JoinRefusedError(
        status.FAILED_PRECONDITION,
        `node ${node.name} is ${node.state}: no agent may join it`,
      );
    }
    const credential = await replaceCredential(tx, node.id);
    if (node.quarantined_at) await liftQuarantine(tx, node.id);
    await tx
      .updateTable('nodes')
      .set({ joined_at: sql<Date>`now()`, platform: platformOf(request.platform), updated_at: sql<Date>`now()` })
      .where('id', '=', node.id)
      .execute();
    await appendEvent(tx, {
      kind: 'node_joined',
      subjectType: 'node',
      subjectId: node.id,
      nodeId: node.id,
      actor: ACTOR,
      data: {
        hostname: storableText(request.hostname, 255),
        agent_version: storableText(request.agentVersion, 50),
        os: storableText(request.platform?.os ?? '', 20),
        arch: storableText(request.platform?.arch ?? '', 20),
      },
    });
    return { nodeId: node.id, nodeName: node.name, credential };
  });
}

/** Says why the token was not taken: each case needs something else of the operator. */
async function refusal(tx: Db, tokenHash: Buffer): Promise<JoinRefusedError> {
  const token = await tx
    .selectFrom('join_tokens')
    .innerJoin('nodes', 'nodes.id', 'join_tokens.node_id')
    .select(['nodes.name', 'join_tokens.used_at', 'join_tokens.expires_at'])
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst();
  const next = `make a new one with \`hoodctl node join-token ${token?.name ?? '<node>'}\``;
  if (!token) return new JoinRefusedError(status.UNAUTHENTICATED, `the join token is unknown: ${next}`);
  const why = token.used_at
    ? `was used already at ${token.used_at.toISOString()}, and it is good for one join`
    : `has expired at ${token.expires_at.toISOString()}`;
  return new JoinRefusedError(status.UNAUTHENTICATED, `the join token of ${token.name} ${why}: ${next}`);
}

async function replaceCredential(tx: Db, nodeId: string): Promise<string> {
  await tx
    .updateTable('agent_credentials')
    .set({ revoked_at: sql<Date>`now()` })
    .where('node_id', '=', nodeId)
    .where('revoked_at', 'is', null)
    .execute();
  await closeStreamsOfNode(tx, nodeId, 'credential_revoked');
  const { secret, hash } = newAgentCredential();
  await tx.insertInto('agent_credentials').values({ node_id: nodeId, secret_hash: hash }).execute();
  return secret;
}

async function liftQuarantine(tx: Db, nodeId: string): Promise<void> {
  await tx.updateTable('nodes').set({ quarantined_at: null }).where('id', '=', nodeId).execute();
  const resolved = await tx
    .updateTable('incidents')
    .set({ status: 'resolved', resolved_at: sql<Date>`now()`, resolved_by: ACTOR })
    .where('node_id', '=', nodeId)
    .where('category', '=', 'identity_cloned')
    .where('status', '<>', 'resolved')
    .returning('id')
    .execute();
  for (const incident of resolved) {
    await appendEvent(tx, {
      kind: 'incident_resolved',
      subjectType: 'incident',
      subjectId: incident.id,
      nodeId,
      actor: ACTOR,
      data: { why: 'the node joined with a new token' },
    });
  }
}
