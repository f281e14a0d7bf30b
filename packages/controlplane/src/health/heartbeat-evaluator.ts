import { judgeNodeState, type NodeHealthFacts } from '@hoodcloud/domain/node-health';
import type { ApplicationHealth, NodeState, SyncStatus } from '@hoodcloud/domain/node-state';
import { type Reason, reason } from '@hoodcloud/domain/reasons';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { Reconciler, Services } from '../feature.ts';
import { endSession } from '../gateway/agent-session-store.ts';
import { OFFLINE_AFTER_MS } from '../nodes/liveness.ts';
import { transitionNode } from '../nodes/node-transition.ts';
import type { ChainJudges } from './chain-judges.ts';
import { rewindRestartedChains } from './chain-restart.ts';

const ACTOR = 'system:heartbeat-evaluator';
/** So many heartbeats in a row must show trouble before a node's state says so (D4). */
const CONSECUTIVE = 2;

interface EvaluatedNode {
  readonly id: string;
  readonly name: string;
  readonly state: NodeState;
  readonly chainProfileId: string;
  readonly lastHeartbeatAt: number | null;
  readonly applicationHealth: ApplicationHealth;
  readonly syncStatus: SyncStatus;
  readonly running: boolean | null;
  readonly sessionId: string | null;
}

/** Trouble that was seen but not often enough yet. */
interface Suspicion {
  readonly next: NodeState;
  readonly heartbeatAt: number | null;
  readonly times: number;
}

/**
 * Says what each node's heartbeats, or their absence, make of its state. Nodes in maintenance are left alone (spec
 * "Maintenance State Exemption"): there the rollout decides.
 */
export function heartbeatEvaluator({ db, log }: Services, judges: ChainJudges): Reconciler {
  const suspicions = new Map<string, Suspicion>();
  return {
    name: 'heartbeat-evaluator',
    intervalMs: 2_000,
    wokenBy: null,
    runs: 'leader',
    run: async (now) => {
      let changed = 0;
      for (const node of await loadEvaluated(db)) {
        const facts = factsOf(node, now, (await judges.of(node.chainProfileId)) !== null);
        const next = judgeNodeState(facts);
        const offline = isOffline(facts);
        if (offline && node.sessionId) await endSession(db, node.sessionId, 'heartbeat_timeout');
        if (!isCertain(suspicions, node, next, offline)) continue;
        if (await move(db, node, next, offline)) changed += 1;
      }
      changed += await rewindRestartedChains(db, log, now);
      return changed;
    },
  };
}

function factsOf(node: EvaluatedNode, now: Date, judged: boolean): NodeHealthFacts {
  return {
    state: node.state,
    now: now.getTime(),
    lastHeartbeatAt: node.lastHeartbeatAt,
    offlineAfterMs: OFFLINE_AFTER_MS,
    running: node.running,
    applicationHealth: node.applicationHealth,
    syncStatus: node.syncStatus,
    judgesApplication: judged,
    judgesSync: judged,
  };
}

function isOffline({ lastHeartbeatAt, now, offlineAfterMs }: NodeHealthFacts): boolean {
  return lastHeartbeatAt !== null && now - lastHeartbeatAt > offlineAfterMs;
}

/** Whether the change is due. Trouble must be in consecutive heartbeats (D4); silence is long already, and good news is welcome. */
function isCertain(
  suspicions: Map<string, Suspicion>,
  node: EvaluatedNode,
  next: NodeState,
  offline: boolean,
): boolean {
  if (next === node.state) {
    suspicions.delete(node.id);
    return false;
  }
  const trouble = next === 'degraded' || next === 'down' || (node.state === 'healthy' && next === 'syncing');
  if (!trouble || offline) {
    suspicions.delete(node.id);
    return true;
  }
  const before = suspicions.get(node.id);
  const again = before?.next === next;
  if (again && before.heartbeatAt === node.lastHeartbeatAt) return false; // the same heartbeat seen twice proves nothing
  const times = again ? before.times + 1 : 1;
  suspicions.set(node.id, { next, heartbeatAt: node.lastHeartbeatAt, times });
  if (times < CONSECUTIVE) return false;
  suspicions.delete(node.id);
  return true;
}

function move(db: Database, node: EvaluatedNode, next: NodeState, offline: boolean): Promise<boolean> {
  const change = { nodeId: node.id, from: node.state, to: next, reason: whyOf(node, next, offline), actor: ACTOR };
  return db.transaction().execute((tx) => transitionNode(tx, change));
}

function whyOf(node: EvaluatedNode, next: NodeState, offline: boolean): Reason {
  if (offline) {
    const since = node.lastHeartbeatAt === null ? 'its join' : new Date(node.lastHeartbeatAt).toISOString();
    return reason('agent_offline', { node: node.name, since });
  }
  if (next === 'down') return reason('component_not_running', { node: node.name });
  return reason('health_observed', {
    application_health: node.applicationHealth,
    sync_status: node.syncStatus,
  });
}

async function loadEvaluated(db: Database): Promise<EvaluatedNode[]> {
  const { rows } = await sql<EvaluatedNode>`
    select n.id, n.name, n.state, n.chain_profile_id as "chainProfileId",
           extract(epoch from n.last_heartbeat_at)::float8 * 1000 as "lastHeartbeatAt",
           n.application_health as "applicationHealth", n.sync_status as "syncStatus", c.running, s.id as "sessionId"
      from nodes n
      left join lateral (
        select bool_and(active and coalesce(main_pid, 0) > 0) as running from node_components where node_id = n.id
      ) c on true
      left join agent_sessions s on s.node_id = n.id and s.ended_at is null
     where n.state not in ('maintenance', 'terminating', 'terminated', 'failed')`.execute(db);
  return rows;
}
