import { toJson } from '@bufbuild/protobuf';
import { type ComponentReport, ComponentReportSchema } from '@hoodcloud/contracts/wire/agent-v1';
import { blockIntervalAfter } from '@hoodcloud/domain/block-rate';
import { advanceChainHeight, isStalled } from '@hoodcloud/domain/chain-height';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { storableJson } from '../gateway/storable-json.ts';
import { type Judgement, UNJUDGED } from './chain-judge.ts';
import type { ChainJudges, KnownChain } from './chain-judges.ts';
import { upsertComponents } from './component-store.ts';
import {
  type ChainPace,
  lockChainHeights,
  lockNodesOfSessions,
  type NodeRow,
  writeChainHeights,
  writeNodes,
} from './heartbeat-rows.ts';

/** A heartbeat as a gateway received it. */
export interface ReceivedHeartbeat {
  readonly nodeId: string;
  readonly sessionId: string;
  readonly components: readonly ComponentReport[];
  /** The agent's clock minus ours when it came, in milliseconds: shown, never trusted (B6). */
  readonly clockSkewMs: number | null;
}

/** How long a node may stand while its chain grows before it counts as stalled (D4a), unless blocks are rarer. */
export const STALL_TOLERANCE_MS = 30_000;

/**
 * Stores heartbeats, judges them by their chains' expressions, and brings nodes and chain heights up to date, in one
 * transaction and a few statements whatever their number. Only the current session of a node counts; the time is the
 * database's, the same for everybody (B6, D1).
 * @returns ids of the sessions that are still open
 */
export async function storeHeartbeats(
  db: Database,
  judges: ChainJudges,
  batch: readonly ReceivedHeartbeat[],
): Promise<Set<string>> {
  return db.transaction().execute(async (tx) => {
    const nodes = await lockNodesOfSessions(tx, [...new Set(batch.map((heartbeat) => heartbeat.sessionId))]);
    const current = batch.filter((heartbeat) => nodes.has(heartbeat.sessionId));
    if (current.length === 0) return new Set();
    const chainIds = [...new Set([...nodes.values()].map((node) => node.chainProfileId))].sort();
    const chains = new Map<string, KnownChain | null>();
    for (const id of chainIds) chains.set(id, await judges.of(id));
    const heights = await lockChainHeights(tx, chainIds);
    const judged = current.map((heartbeat) => judgeOne(heartbeat, nodes, chains, heights));
    await insertHeartbeats(tx, judged);
    await upsertComponents(tx, current);
    await writeNodes(tx, [...nodes.values()]);
    await writeChainHeights(tx, heights);
    return new Set(nodes.keys());
  });
}

type JudgedHeartbeat = ReceivedHeartbeat & { readonly judgement: Judgement };

/** Judges one heartbeat and carries its height into the node's and the chain's. */
function judgeOne(
  heartbeat: ReceivedHeartbeat,
  nodes: ReadonlyMap<string, NodeRow>,
  chains: ReadonlyMap<string, KnownChain | null>,
  heights: Map<string, ChainPace>,
): JudgedHeartbeat {
  const node = nodes.get(heartbeat.sessionId);
  if (!node) throw new Error(`session ${heartbeat.sessionId} was locked before`);
  const chain = chains.get(node.chainProfileId) ?? null;
  const seen = chain?.judge.judge(heartbeat.components) ?? UNJUDGED;
  node.applyHeight(seen.height);
  node.power = chain?.judge.power(heartbeat.components) ?? node.power;
  const before = heights.get(node.chainProfileId) ?? { bestHeight: null, grewAt: null, blockIntervalMs: null };
  const grown = advanceChainHeight(before, [{ height: seen.height, receivedAt: node.now }]);
  heights.set(node.chainProfileId, {
    ...grown,
    blockIntervalMs: blockIntervalAfter(before.blockIntervalMs, before, grown),
  });
  const facts = {
    chainProfileId: node.chainProfileId,
    bestHeight: grown.bestHeight,
    heightGrewAt: grown.grewAt,
    maxBlockIntervalMs: maxBlockIntervalMs(chain),
  };
  const tolerance = Math.max(STALL_TOLERANCE_MS, facts.maxBlockIntervalMs ?? 0);
  const stalled = isStalled({ height: node.height, grewAt: node.heightGrewAt }, facts, node.now, tolerance);
  const judgement: Judgement = stalled ? { ...seen, sync_status: 'stalled' } : seen;
  node.applyJudgement(judgement, heartbeat.clockSkewMs);
  return { ...heartbeat, judgement };
}

/** Milliseconds of the chain's longest normal pause; null when the profile does not say. */
export function maxBlockIntervalMs(chain: KnownChain | null): number | null {
  const seconds = chain?.health.max_block_interval_seconds;
  return seconds === undefined ? null : seconds * 1000;
}

async function insertHeartbeats(tx: Db, judged: readonly JudgedHeartbeat[]): Promise<void> {
  const rows = judged.map(({ nodeId, sessionId, components, judgement }) => ({
    node_id: nodeId,
    session_id: sessionId,
    components: components.map((component) =>
      toJson(ComponentReportSchema, component, { useProtoFieldName: true, alwaysEmitImplicit: true }),
    ),
    judged: judgement,
  }));
  await sql`
    insert into node_heartbeats (node_id, session_id, components, judged)
    select h.node_id, h.session_id, h.components, h.judged
      from jsonb_to_recordset(${storableJson(rows)}::jsonb)
           as h(node_id uuid, session_id uuid, components jsonb, judged jsonb)`.execute(tx);
}
