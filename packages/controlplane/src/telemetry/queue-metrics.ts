import { sql } from 'kysely';
import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../db/database.ts';
import type { Reconciler } from '../feature.ts';

const INTERVAL_MS = 10_000;
/** Who has not looked for so long is not the one who looks any more. */
const LEAD_IS_OVER_MS = 6 * INTERVAL_MS;

/** @param lead whether this process is the one that looks; one that was shows nothing any more */
export function queueInstruments(registry: Registry, lead: () => boolean = () => true) {
  const registers = [registry];
  function collect(this: Gauge): void {
    if (!lead()) this.reset();
  }
  return {
    waiting: new Gauge({
      name: 'hoodcloud_queue_messages',
      help: 'Rows that wait to be brought out, by queue.',
      labelNames: ['queue'],
      registers,
      collect,
    }),
    oldest: new Gauge({
      name: 'hoodcloud_queue_oldest_seconds',
      help: 'Age of the oldest row that waits, by queue; 0 when none does.',
      labelNames: ['queue'],
      registers,
      collect,
    }),
    incidents: new Gauge({
      name: 'hoodcloud_incidents_open',
      help: 'Incidents that nobody has resolved, by category and severity.',
      labelNames: ['category', 'severity'],
      registers,
      collect,
    }),
  };
}

/**
 * What waits in the queues that leave a transaction, and how long its oldest row has waited. One instance at a time, so
 * that a sum over instances is right.
 */
export function queueMetrics(db: Database, registry: Registry): Reconciler {
  // made at the first run: features are composed once a role, and only the role that looks may register them
  let instruments: ReturnType<typeof queueInstruments> | null = null;
  let shownAt = 0;
  return {
    name: 'queue-metrics',
    intervalMs: INTERVAL_MS,
    wokenBy: null,
    runs: 'leader',
    run: async () => {
      instruments ??= queueInstruments(registry, () => Date.now() - shownAt < LEAD_IS_OVER_MS);
      for (const { queue, waiting, oldest } of await queues(db)) {
        instruments.waiting.set({ queue }, waiting);
        instruments.oldest.set({ queue }, oldest);
      }
      instruments.incidents.reset();
      for (const { category, severity, open } of await openIncidents(db)) {
        instruments.incidents.set({ category, severity }, open);
      }
      shownAt = Date.now();
      return 0;
    },
  };
}

interface QueueState {
  readonly queue: string;
  readonly waiting: number;
  readonly oldest: number;
}

async function queues(db: Database): Promise<QueueState[]> {
  const { rows } = await sql<QueueState>`
    select queue, count(since)::int as waiting,
           coalesce(extract(epoch from clock_timestamp() - min(since)), 0)::float8 as oldest
      from (values ('engine_messages'), ('agent_commands'), ('events')) as known(queue)
      left join (
        select 'engine_messages' as queue, created_at as since from engine_messages
        union all select 'agent_commands', created_at from agent_commands where status in ('pending', 'delivered')
        union all select 'events', occurred_at from events where published_seq is null
      ) as rows using (queue)
     group by queue`.execute(db);
  return rows;
}

function openIncidents(db: Database) {
  return db
    .selectFrom('incidents')
    .select(({ fn }) => ['category', 'severity', fn.countAll<number>().as('open')])
    .where('status', '!=', 'resolved')
    .groupBy(['category', 'severity'])
    .execute();
}
