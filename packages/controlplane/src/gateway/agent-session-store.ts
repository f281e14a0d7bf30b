import type { Hello } from '@hoodcloud/contracts/wire/agent-v1';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { type AuthenticatedNode, revokedSentence } from './authenticate-agent.ts';
import { NotAuthenticatedError } from './gateway-error.ts';
import { quarantineClone } from './identity-quarantine.ts';
import { platformOf, storableText } from './storable-json.ts';

/** Postgres channel by which gateways tell one another that a node's streams must end. */
export const SESSION_CHANNEL = 'agent_sessions';

export type SessionEnd =
  | 'superseded'
  | 'credential_revoked'
  | 'quarantined'
  | 'closed_by_agent'
  | 'bad_message'
  | 'heartbeat_timeout'
  | 'gateway_stopped';

/** Payload of the channel: every stream of the node but the one of `keepSessionId` ends for this reason. */
export interface StreamsMustEnd {
  readonly nodeId: string;
  readonly keepSessionId: string | null;
  readonly reason: 'superseded' | 'credential_revoked' | 'quarantined';
}

export type OpenedSession =
  /** `openedAt` grows with each session of a node. */
  { readonly sessionId: string; readonly openedAt: number } | { readonly quarantined: true };

/**
 * Opens the node's session; a session that was open is superseded, on whatever gateway it is (half-open connections are
 * normal, B3). Refused while the node is quarantined, and when this very session betrays a cloned machine.
 * @throws NotAuthenticatedError when the credential was revoked meanwhile
 */
export async function openSession(
  db: Database,
  gatewayId: string,
  node: AuthenticatedNode,
  hello: Hello,
): Promise<OpenedSession> {
  return db.transaction().execute(async (tx) => {
    // One connect of a node at a time: whoever comes second sees the first one's session.
    const { quarantined_at } = await tx
      .selectFrom('nodes')
      .select('quarantined_at')
      .where('id', '=', node.nodeId)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow();
    await refuseRevoked(tx, node);
    if (quarantined_at) return { quarantined: true };
    const nonces = await recentNonces(tx, node);
    await endOpenSession(tx, node.nodeId, 'superseded');
    const session = await insertSession(tx, gatewayId, node.nodeId, hello);
    await rememberPlatform(tx, node.nodeId, hello);
    if (alternates(nonces, hello.instanceNonce)) {
      await quarantineClone(tx, node, hello);
      await closeStreamsOfNode(tx, node.nodeId, 'quarantined');
      return { quarantined: true };
    }
    await notifyGateways(tx, { nodeId: node.nodeId, keepSessionId: session.sessionId, reason: 'superseded' });
    return session;
  });
}

/** A host may be replaced by one of another kind: the platform is what its agent says now. */
async function rememberPlatform(tx: Db, nodeId: string, hello: Hello): Promise<void> {
  const platform = platformOf(hello.platform);
  if (platform === null) return;
  await tx
    .updateTable('nodes')
    .set({ platform })
    .where('id', '=', nodeId)
    .where((eb) => eb('platform', 'is distinct from', platform))
    .execute();
}

/** The node may have joined anew since it was authenticated. */
async function refuseRevoked(tx: Db, node: AuthenticatedNode): Promise<void> {
  const credential = await tx
    .selectFrom('agent_credentials')
    .select('id')
    .where('id', '=', node.credentialId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  if (!credential) throw new NotAuthenticatedError(revokedSentence(node.nodeName));
}

/**
 * Whether an instance comes back after another one took its place (A, B, A). A restarted agent makes a new nonce, so
 * only two hosts that are alive with one identity can do that (B3, field-case 118).
 * @param earlier nonces of the node's sessions, newest first
 */
export function alternates(earlier: readonly string[], nonce: string): boolean {
  const lastOther = earlier.findIndex((one) => one !== nonce);
  return lastOther >= 0 && earlier.slice(lastOther).includes(nonce);
}

async function recentNonces(tx: Db, node: AuthenticatedNode): Promise<string[]> {
  const rows = await tx
    .selectFrom('agent_sessions')
    .select('instance_nonce')
    .where('node_id', '=', node.nodeId)
    .where('connected_at', '>=', node.credentialCreatedAt)
    .orderBy('connected_at', 'desc')
    .limit(50)
    .execute();
  return rows.map((row) => row.instance_nonce);
}

async function insertSession(tx: Db, gatewayId: string, nodeId: string, hello: Hello) {
  return tx
    .insertInto('agent_sessions')
    .values({
      node_id: nodeId,
      gateway_id: gatewayId,
      instance_nonce: hello.instanceNonce,
      boot_id: storableText(hello.bootId, 100),
      agent_version: storableText(hello.agentVersion, 50),
      hostname: storableText(hello.hostname, 255),
      os: storableText(hello.platform?.os ?? '', 20),
      arch: storableText(hello.platform?.arch ?? '', 20),
      // Not now(): two transactions that waited for one another may carry start times in the wrong order.
      connected_at: sql<Date>`clock_timestamp()`,
      ended_at: null,
      end_reason: null,
    })
    .returning(['id as sessionId', sql<number>`extract(epoch from connected_at)::float8`.as('openedAt')])
    .executeTakeFirstOrThrow();
}

/** Ends one session's row; one that has ended already keeps its reason. */
export async function endSession(db: Db, sessionId: string, reason: SessionEnd): Promise<void> {
  await db
    .updateTable('agent_sessions')
    .set({ ended_at: sql<Date>`clock_timestamp()`, end_reason: reason })
    .where('id', '=', sessionId)
    .where('ended_at', 'is', null)
    .execute();
}

/** Ends every session this gateway holds: it stops. */
export async function endSessionsOfGateway(db: Db, gatewayId: string): Promise<void> {
  await db
    .updateTable('agent_sessions')
    .set({ ended_at: sql<Date>`clock_timestamp()`, end_reason: 'gateway_stopped' satisfies SessionEnd })
    .where('gateway_id', '=', gatewayId)
    .where('ended_at', 'is', null)
    .execute();
}

/** Ends the node's session and tells every gateway to end its streams, once the caller's transaction is committed. */
export async function closeStreamsOfNode(
  tx: Db,
  nodeId: string,
  reason: 'credential_revoked' | 'quarantined',
): Promise<void> {
  await endOpenSession(tx, nodeId, reason);
  await notifyGateways(tx, { nodeId, keepSessionId: null, reason });
}

async function endOpenSession(tx: Db, nodeId: string, reason: SessionEnd): Promise<void> {
  await tx
    .updateTable('agent_sessions')
    .set({ ended_at: sql<Date>`clock_timestamp()`, end_reason: reason })
    .where('node_id', '=', nodeId)
    .where('ended_at', 'is', null)
    .execute();
}

async function notifyGateways(tx: Db, message: StreamsMustEnd): Promise<void> {
  await sql`select pg_notify(${SESSION_CHANNEL}, ${JSON.stringify(message)})`.execute(tx);
}

/** How many agents may connect, whether they do now or not. */
export async function countAgents(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('agent_credentials')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}
