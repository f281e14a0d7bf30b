import type { ReasonView } from '@hoodcloud/contracts/http/common';
import type { NodeView } from '@hoodcloud/contracts/http/nodes';
import type { NodeHold } from '@hoodcloud/domain/node-hold';
import { isInFlight } from '@hoodcloud/domain/node-upgrade-status';
import { type Reason, reason } from '@hoodcloud/domain/reasons';
import { ACTIVE_ROLLOUT_STATUSES } from '@hoodcloud/domain/rollout-status';
import { type IdleNodeFacts, whyIdleNodeWaits, whyNodeIsUnfit } from '@hoodcloud/domain/why/idle-node-why';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { reasonView } from '../http/reason-view.ts';
import type { ChainLimits } from './load-rollout-snapshot.ts';
import { nameNodesIn } from './name-nodes.ts';
import { listRolloutNodes } from './rollout-node-read-model.ts';

/**
 * Why a node is where it is: in each rollout under way that has it, the one at work first, else why none has; then what
 * would keep it from being changed, and how its last attempt ended when that was not well.
 */
export async function whyOfNode(db: Db, chains: ChainLimits, node: NodeView): Promise<ReasonView[]> {
  const rows = await newestRows(db, node.id);
  const facts = idleFacts(node);
  const underWay = rows.filter(isUnderWay);
  if (underWay.length > 0) {
    const why: ReasonView[] = [];
    for (const { rollout_id } of underWay) why.push(...(await whyIn(db, chains, rollout_id, node.id)));
    const unfit = (await named(db, whyNodeIsUnfit(facts, Date.now()))).filter(({ code }) => !isSaid(code, why));
    return [...why, ...unfit];
  }
  const idle = await named(db, whyIdleNodeWaits(facts, Date.now()));
  const [last] = rows;
  if (last?.status !== 'failed' && last?.status !== 'rolled_back') return idle;
  return [...idle, ...(await whyIn(db, chains, last.rollout_id, node.id))];
}

/** A silent agent is an offline one. */
function isSaid(code: string, why: readonly ReasonView[]): boolean {
  return why.some((said) => said.code === code || (code === 'agent_offline' && said.code === 'agent_silent'));
}

async function named(db: Db, reasons: readonly Reason[]): Promise<ReasonView[]> {
  return (await nameNodesIn(db, reasons)).map(reasonView);
}

/** More rollouts than this never have a node at once: one is under way, and one of its group or chain before may end. */
const NEWEST_ROWS = 5;

async function newestRows(db: Db, nodeId: string) {
  const active = sql<boolean>`r.status = any(${[...ACTIVE_ROLLOUT_STATUSES]})`;
  return db
    .selectFrom('rollout_nodes as rn')
    .innerJoin('rollouts as r', 'r.id', 'rn.rollout_id')
    .select(['rn.rollout_id', 'rn.status', 'rn.attempt_count', 'rn.requested_attempt', active.as('active')])
    .where('rn.node_id', '=', nodeId)
    .orderBy(sql`rn.status in ('in_progress', 'validating')`, 'desc')
    .orderBy(active, 'desc')
    .orderBy('r.created_at', 'desc')
    .limit(NEWEST_ROWS)
    .execute();
}

type NodesRow = Awaited<ReturnType<typeof newestRows>>[number];

function isUnderWay({ status, active, attempt_count, requested_attempt }: NodesRow): boolean {
  const retried = status !== 'pending' && status !== 'skipped' && requested_attempt > attempt_count;
  return active || retried || isInFlight(status);
}

async function whyIn(db: Db, chains: ChainLimits, rolloutId: string, nodeId: string): Promise<ReasonView[]> {
  const { items } = await listRolloutNodes(db, chains, rolloutId, { node_id: [nodeId], limit: 1 });
  return items[0]?.why ?? [reasonView(reason('not_in_rollout', { node: nodeId }))];
}

function idleFacts(node: NodeView): IdleNodeFacts {
  return {
    nodeId: node.id,
    joined: node.joined_at !== null,
    online: node.online,
    lastHeartbeatAt: node.last_heartbeat_at === null ? null : Date.parse(node.last_heartbeat_at),
    quarantined: node.quarantined_at !== null,
    hold: holdOf(node),
  };
}

function holdOf({ holds }: NodeView): NodeHold | null {
  const hold = holds.find(({ kind }) => kind === 'hold');
  if (!hold?.expires_at) return null;
  return { actor: hold.actor, reason: hold.reason, until: Date.parse(hold.expires_at) };
}
