import { isEndedNode } from '@hoodcloud/domain/node-upgrade-status';
import { isEndedRollout } from '@hoodcloud/domain/rollout-status';
import { sql } from 'kysely';
import type { Registry } from 'prom-client';
import type { Database } from '../db/database.ts';
import { EVENTS_PUBLISHED } from '../events/event-relay.ts';
import type { Reconciler } from '../feature.ts';
import { type RolloutInstruments, rolloutInstruments } from './rollout-instruments.ts';

const BATCH = 1000;
const INTERVAL_MS = 10_000;
/** Who has not counted for so long is not the one who counts any more. */
const LEAD_IS_OVER_MS = 6 * INTERVAL_MS;
/**
 * Counts what the history says and shows what is active. One instance at a time, so that a sum over instances is right;
 * counters begin with what happens after this process became the one that counts.
 */
export function rolloutMetrics(db: Database, registry: Registry): Reconciler {
  // made at the first run: features are composed once a role, and only the role that counts may register them
  let instruments: RolloutInstruments | null = null;
  let cursor: number | null = null;
  let shownAt = 0;
  const lead = () => Date.now() - shownAt < LEAD_IS_OVER_MS;
  return {
    name: 'rollout-metrics',
    intervalMs: INTERVAL_MS,
    wokenBy: EVENTS_PUBLISHED,
    runs: 'leader',
    run: async () => {
      instruments ??= rolloutInstruments(registry, lead);
      cursor ??= await latestSeq(db);
      const events = await endedSince(db, cursor);
      for (const event of events) count(instruments, event);
      cursor = events.at(-1)?.seq ?? cursor;
      await showActive(db, instruments);
      shownAt = Date.now();
      return events.length === BATCH ? BATCH : 0;
    },
  };
}

interface HistoryEvent {
  readonly seq: number;
  readonly of: 'rollout' | 'node';
  readonly chain: string;
  readonly strategy: string;
  /** The status that the event ended with. */
  readonly to: string | null;
  readonly seconds: number | null;
}

async function latestSeq(db: Database): Promise<number> {
  const row = await db
    .selectFrom('events')
    .select(({ fn }) => fn.max('published_seq').as('seq'))
    .executeTakeFirstOrThrow();
  return row.seq ?? 0;
}

/** Status changes of rollouts and their nodes after a number, with the time since each began. */
async function endedSince(db: Database, after: number): Promise<HistoryEvent[]> {
  const { rows } = await sql<HistoryEvent>`
    select e.published_seq as seq, e.subject_type as of, r.chain_profile_id as chain, r.strategy, e.data->>'to' as to,
           extract(epoch from e.occurred_at - coalesce(n.started_at, r.started_at))::float8 as seconds
      from events e join rollouts r on r.id = e.rollout_id
      left join rollout_nodes n on n.rollout_id = e.rollout_id and n.node_id = e.node_id
     where e.published_seq > ${after} and e.subject_type in ('rollout', 'node')
     order by e.published_seq limit ${BATCH}`.execute(db);
  return rows;
}

function count(instruments: RolloutInstruments, { of, chain, strategy, to, seconds }: HistoryEvent): void {
  if (to === null) return;
  if (of === 'rollout' && isEndedRollout(to as never)) {
    instruments.rollouts.inc({ chain, strategy, status: to });
    if (seconds !== null) instruments.rolloutSeconds.observe({ chain, strategy, status: to }, seconds);
  } else if (of === 'node' && isEndedNode(to as never)) {
    instruments.nodes.inc({ chain, status: to });
    if (seconds !== null && to !== 'skipped') instruments.nodeSeconds.observe({ chain, status: to }, seconds);
  }
}

async function showActive(db: Database, { active, progress, phases }: RolloutInstruments): Promise<void> {
  const rollouts = await db
    .selectFrom('rollouts')
    .select(['id', 'chain_profile_id as chain', 'total_nodes', 'pending_nodes'])
    .where('status', 'in', ['pending', 'running', 'paused'])
    .execute();
  const inPhase = await db
    .selectFrom('rollout_nodes as n')
    .innerJoin('rollouts as r', 'r.id', 'n.rollout_id')
    .select(({ fn }) => [
      'r.id',
      'r.chain_profile_id as chain',
      'n.upgrade_phase as phase',
      fn.countAll<number>().as('nodes'),
    ])
    .where('r.status', 'in', ['pending', 'running', 'paused'])
    .where('n.upgrade_phase', 'is not', null)
    .groupBy(['r.id', 'r.chain_profile_id', 'n.upgrade_phase'])
    .execute();
  for (const gauge of [active, progress, phases]) gauge.reset();
  for (const { id, chain, total_nodes: total, pending_nodes: pending } of rollouts) {
    active.inc({ chain });
    progress.set({ chain, rollout_id: id }, total === 0 ? 0 : (total - pending) / total);
  }
  for (const { id, chain, phase, nodes } of inPhase) phases.set({ chain, rollout_id: id, phase: phase ?? '' }, nodes);
}
