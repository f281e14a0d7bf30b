import type { CommandStatus } from '@hoodcloud/domain/agent-operation';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** A command an agent may still have to do. */
export const OPEN_COMMAND_STATUSES = ['pending', 'delivered', 'acknowledged'] as const satisfies CommandStatus[];

/** What a delivery needs of a command's row. */
export interface DeliverableCommand {
  readonly id: string;
  readonly nodeId: string;
  readonly sessionId: string;
  /** UpgradePayload of the wire. */
  readonly payload: Buffer;
  /** From now to the deadline, by the database's clock. */
  readonly expiresInMs: number;
}

/**
 * Which commands a gateway should send now. `nodes`: not yet sent ones of these nodes; `hello`: every open one of a node
 * whose stream is new, acknowledged ones too, since its host may have lost them (B1); `stale`: sent by this gateway but
 * not acknowledged for `unacknowledgedForMs`, and such whose notification was lost.
 */
export type DeliveryScope =
  | { readonly kind: 'nodes'; readonly nodeIds: readonly string[] }
  | { readonly kind: 'hello'; readonly nodeId: string }
  | { readonly kind: 'stale'; readonly unacknowledgedForMs: number };

/**
 * Takes the commands of nodes whose current session this gateway holds and marks them delivered, before they are sent:
 * a crash in between leads to a second delivery, never to none (B1).
 */
export async function takeDeliverable(db: Db, gatewayId: string, scope: DeliveryScope): Promise<DeliverableCommand[]> {
  const result = await sql<DeliverableCommand>`
    update agent_commands c
       set status = case when c.status = 'pending' then 'delivered' else c.status end,
           delivered_at = clock_timestamp(), delivered_session_id = s.id, deliveries = c.deliveries + 1
      from agent_sessions s
     where s.node_id = c.node_id and s.ended_at is null and s.gateway_id = ${gatewayId}
       and c.status in ('pending', 'delivered', 'acknowledged') and c.deadline_at > clock_timestamp()
       and ${scopeCondition(scope)}
    returning c.id, c.node_id as "nodeId", s.id as "sessionId", c.payload,
              extract(epoch from c.deadline_at - clock_timestamp())::float8 * 1000 as "expiresInMs"`.execute(db);
  return result.rows;
}

function scopeCondition(scope: DeliveryScope) {
  switch (scope.kind) {
    case 'nodes':
      return sql`c.node_id = any(${scope.nodeIds}::uuid[]) and c.status = 'pending'`;
    case 'hello':
      return sql`c.node_id = ${scope.nodeId}`;
    case 'stale':
      return sql`(c.status = 'pending' or (c.status = 'delivered'
        and c.delivered_at < clock_timestamp() - make_interval(secs => ${scope.unacknowledgedForMs / 1000})))`;
  }
}

/** The agent has the command safe on its disk. A command that has ended, or another node's, stays as it is. */
export async function acknowledgeCommand(db: Db, nodeId: string, commandId: string): Promise<void> {
  await db
    .updateTable('agent_commands')
    .set({ status: 'acknowledged', acknowledged_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', commandId)
    .where('node_id', '=', nodeId)
    .where('status', 'in', ['pending', 'delivered'])
    .execute();
}
