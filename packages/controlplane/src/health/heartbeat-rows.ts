import type { ChainHeight } from '@hoodcloud/domain/chain-height';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { storableJson } from '../gateway/storable-json.ts';
import type { Judgement, ToldPower } from './chain-judge.ts';

const MAX_INT4 = 2_147_483_647;

/** A node's row while a batch of heartbeats is applied to it. Times are epoch milliseconds of the database's clock. */
export class NodeRow {
  readonly id: string;
  readonly chainProfileId: string;
  readonly now: number;
  height: number | null;
  heightGrewAt: number | null;
  judgement: Judgement | null = null;
  clockSkewMs: number | null = null;
  power: ToldPower = { own: null, total: null };

  constructor(row: { id: string; chainProfileId: string; height: number | null; grewAt: number | null; now: number }) {
    this.id = row.id;
    this.chainProfileId = row.chainProfileId;
    this.height = row.height;
    this.heightGrewAt = row.grewAt;
    this.now = row.now;
  }

  /** A height above the last one is growth; one below it (state was reset) is where growth is counted from. */
  applyHeight(height: number | null): void {
    if (height === null) return;
    if (this.height === null || height > this.height) this.heightGrewAt = this.now;
    this.height = height;
  }

  applyJudgement(judgement: Judgement, clockSkewMs: number | null): void {
    this.judgement = judgement;
    if (clockSkewMs !== null) this.clockSkewMs = Math.max(-MAX_INT4, Math.min(MAX_INT4, Math.round(clockSkewMs)));
  }
}

/** Nodes of those sessions that are open, by session, locked in the order of their ids so that two gateways can't deadlock. */
export async function lockNodesOfSessions(tx: Db, sessionIds: readonly string[]): Promise<Map<string, NodeRow>> {
  const { rows } = await sql<{
    session_id: string;
    id: string;
    chainProfileId: string;
    height: number | null;
    grewAt: number | null;
    now: number;
  }>`
    select s.id as session_id, n.id, n.chain_profile_id as "chainProfileId", n.height,
           extract(epoch from n.height_grew_at)::float8 * 1000 as "grewAt",
           extract(epoch from clock_timestamp())::float8 * 1000 as now
      from agent_sessions s join nodes n on n.id = s.node_id
     where s.id = any(${sessionIds}::uuid[]) and s.ended_at is null
     order by n.id
       for no key update of n`.execute(tx);
  return new Map(rows.map((row) => [row.session_id, new NodeRow(row)]));
}

/** A chain's best height and the average time between its blocks, in milliseconds; null: not known yet. */
export interface ChainPace extends ChainHeight {
  readonly blockIntervalMs: number | null;
}

/** Best heights of these chains, locked in order. A chain that no node has told a height of yet is not in it. */
export async function lockChainHeights(tx: Db, chainIds: readonly string[]): Promise<Map<string, ChainPace>> {
  const { rows } = await sql<{ id: string; bestHeight: number; grewAt: number; blockIntervalMs: number | null }>`
    select chain_profile_id as id, best_height as "bestHeight", extract(epoch from grew_at)::float8 * 1000 as "grewAt",
           block_interval_ms as "blockIntervalMs"
      from chain_heights where chain_profile_id = any(${chainIds}) order by 1 for update`.execute(tx);
  return new Map(rows.map(({ id, ...row }) => [id, row]));
}

/** Liveness, and what the last heartbeat of each node was judged to be. */
export async function writeNodes(tx: Db, nodes: readonly NodeRow[]): Promise<void> {
  const rows = nodes.map((node) => ({
    id: node.id,
    application_health: node.judgement?.application_health ?? 'unknown',
    sync_status: node.judgement?.sync_status ?? 'unknown',
    height: node.height,
    height_grew_at: node.heightGrewAt,
    clock_skew_ms: node.clockSkewMs,
    voting_power: node.power.own,
    chain_power: node.power.total,
  }));
  await sql`
    update nodes n
       set last_heartbeat_at = clock_timestamp(), application_health = h.application_health,
           sync_status = h.sync_status, height = h.height, height_grew_at = to_timestamp(h.height_grew_at / 1000),
           clock_skew_ms = coalesce(h.clock_skew_ms, n.clock_skew_ms),
           -- what is not told any more, as by a node that has just begun, was told before
           voting_power = coalesce(h.voting_power, n.voting_power), chain_power = coalesce(h.chain_power, n.chain_power),
           voting_power_at = case when coalesce(h.voting_power, h.chain_power) is null then n.voting_power_at
                                  else clock_timestamp() end,
           updated_at = clock_timestamp()
      from jsonb_to_recordset(${storableJson(rows)}::jsonb) as h(id uuid, application_health text, sync_status text,
           height bigint, height_grew_at float8, clock_skew_ms int, voting_power bigint, chain_power bigint)
     where n.id = h.id`.execute(tx);
}

/** The best height of each chain; one that another gateway has raised meanwhile stays. */
export async function writeChainHeights(tx: Db, heights: ReadonlyMap<string, ChainPace>): Promise<void> {
  const rows = [...heights]
    .filter(([, row]) => row.bestHeight !== null && row.grewAt !== null)
    .map(([id, row]) => ({
      id,
      best_height: row.bestHeight,
      grew_at: row.grewAt,
      block_interval_ms: row.blockIntervalMs,
    }));
  if (rows.length === 0) return;
  await sql`
    insert into chain_heights (chain_profile_id, best_height, grew_at, block_interval_ms)
    select h.id, h.best_height, to_timestamp(h.grew_at / 1000), h.block_interval_ms
      from jsonb_to_recordset(${storableJson(rows)}::jsonb)
           as h(id text, best_height bigint, grew_at float8, block_interval_ms float8)
     order by 1
    on conflict (chain_profile_id) do update
       set best_height = excluded.best_height, grew_at = excluded.grew_at, block_interval_ms = excluded.block_interval_ms
     where chain_heights.best_height < excluded.best_height`.execute(tx);
}
