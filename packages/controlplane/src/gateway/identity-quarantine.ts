import type { Hello } from '@hoodcloud/contracts/wire/agent-v1';
import { reason } from '@hoodcloud/domain/reasons';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { appendEvent } from '../events/append-event.ts';
import { openIncident } from '../incidents/open-incident.ts';
import type { AuthenticatedNode } from './authenticate-agent.ts';
import { storableText } from './storable-json.ts';

const ACTOR = 'system:gateway';

/**
 * Two hosts speak with one node's credential: neither may be upgraded until an operator says which is the node, by
 * joining that one with a new token (B3, field-case 118). Raises one incident however often it is seen.
 */
export async function quarantineClone(tx: Db, node: AuthenticatedNode, hello: Hello): Promise<void> {
  await tx
    .updateTable('nodes')
    .set({ quarantined_at: sql<Date>`now()`, updated_at: sql<Date>`now()` })
    .where('id', '=', node.nodeId)
    .execute();
  const sessions = await tx
    .selectFrom('agent_sessions')
    .select(['instance_nonce', 'hostname', 'boot_id'])
    .where('node_id', '=', node.nodeId)
    .where('connected_at', '>=', node.credentialCreatedAt)
    .orderBy('connected_at', 'desc')
    .limit(3)
    .execute();
  const why = reason('node_quarantined', { node: node.nodeName });
  await appendEvent(tx, {
    kind: 'node_quarantined',
    subjectType: 'node',
    subjectId: node.nodeId,
    nodeId: node.nodeId,
    reason: why,
    actor: ACTOR,
    data: { sessions },
  });
  await openIncident(tx, {
    category: 'identity_cloned',
    severity: 'critical',
    nodeId: node.nodeId,
    rolloutId: null,
    dedupeKey: `identity_cloned:${node.nodeId}`,
    summary:
      `Two hosts claim to be ${node.nodeName} (last seen: ${storableText(hello.hostname, 255)}). Stop the one that is ` +
      `not the node, then join the other with a new token: hoodctl node join-token ${node.nodeName}`,
    reason: why,
    actor: ACTOR,
    details: { sessions },
  });
}
