import { randomBytes } from 'node:crypto';
import type { CreateNodeRequest, JoinTokenView } from '@hoodcloud/contracts/http/nodes';
import { DomainError } from '@hoodcloud/domain/errors';
import type { Db } from '../db/database.ts';
import { json } from '../db/json.ts';
import { appendEvent } from '../events/append-event.ts';
import { hashAgentSecret } from '../gateway/agent-secret.ts';
import type { ChainFiles } from '../manifests/chain-files.ts';

/** The chain's profile has no such node type. */
export class UnknownNodeTypeError extends DomainError {
  constructor(nodeType: string, chainProfileId: string, known: readonly string[]) {
    super(
      'unknown_node_type',
      `The chain ${chainProfileId} has no node type "${nodeType}"; its profile knows ${known.join(', ')}.`,
      { node_type: nodeType, known: [...known] },
    );
  }
}

/**
 * Adds a node that no agent has joined for yet.
 * @returns its id
 * @throws ConfigFileNotFoundError when the chain has no profile, UnknownNodeTypeError, a unique violation of the name
 */
export async function addNode(
  db: Db,
  chains: Pick<ChainFiles, 'profile'>,
  { reason, ...node }: CreateNodeRequest,
  actor: string,
): Promise<string> {
  const { profile } = await chains.profile(node.chain_profile_id);
  if (!profile.node_types.includes(node.node_type)) {
    throw new UnknownNodeTypeError(node.node_type, node.chain_profile_id, profile.node_types);
  }
  const { id } = await db
    .insertInto('nodes')
    .values({ ...node, labels: json(node.labels), variables: json(node.variables) })
    .returning('id')
    .executeTakeFirstOrThrow();
  const data = { name: node.name, chain_profile_id: node.chain_profile_id, reason: reason ?? null };
  await appendEvent(db, { kind: 'node_added', subjectType: 'node', subjectId: id, nodeId: id, actor, data });
  return id;
}

export interface NewJoinToken {
  readonly nodeId: string;
  readonly expiresInSeconds: number;
  readonly actor: string;
  readonly reason?: string | undefined;
}

/** Makes a one-time token for a node's agent (B3); tokens of the node that nobody used yet are void from now on. */
export async function issueJoinToken(
  db: Db,
  { nodeId, expiresInSeconds, actor, reason }: NewJoinToken,
): Promise<JoinTokenView> {
  const now = new Date();
  const expiresAt = new Date(now.getTime() + expiresInSeconds * 1000);
  await db
    .updateTable('join_tokens')
    .set({ expires_at: now })
    .where('node_id', '=', nodeId)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .execute();
  const token = `hcjoin_${randomBytes(32).toString('base64url')}`;
  await db
    .insertInto('join_tokens')
    .values({ node_id: nodeId, token_hash: hashAgentSecret(token), created_by: actor, expires_at: expiresAt })
    .execute();
  const data = { expires_at: expiresAt.toISOString(), reason: reason ?? null };
  await appendEvent(db, { kind: 'join_token_issued', subjectType: 'node', subjectId: nodeId, nodeId, actor, data });
  return { node_id: nodeId, join_token: token, expires_at: expiresAt.toISOString() };
}
