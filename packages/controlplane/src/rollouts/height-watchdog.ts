import { reason, sentenceOf } from '@hoodcloud/domain/reasons';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import type { Reconciler } from '../feature.ts';
import { storedReason, storedReasons } from '../http/reason-view.ts';
import { openIncident } from '../incidents/open-incident.ts';

const INTERVAL_MS = 15_000;
/** A chain that stands right before the height has reached it: its nodes end there by themselves. */
const STANDS_MS = 60_000;
/** So long nothing may happen after the height before somebody is woken. */
export const IDLE_AFTER_HEIGHT_MS = 120_000;

/** Wakes a person when a height came and the rollout that was made for it began no node (field-case 130). */
export function heightWatchdog(db: Database): Reconciler {
  return {
    name: 'height-watchdog',
    intervalMs: INTERVAL_MS,
    wokenBy: null,
    runs: 'leader',
    run: () => db.transaction().execute((tx) => watchHeights(tx)),
  };
}

/** @returns how many incidents were opened */
export async function watchHeights(db: Db): Promise<number> {
  await noteReached(db);
  const idle = await idleRollouts(db);
  for (const rollout of idle) await raise(db, rollout);
  return idle.length;
}

async function noteReached(db: Db): Promise<void> {
  await sql`
    update rollouts r set height_reached_at = clock_timestamp()
      from chain_heights h
     where h.chain_profile_id = r.chain_profile_id and r.start_at_height is not null and r.height_reached_at is null
       and r.status in ('pending', 'running', 'paused') and r.direction = 'upgrade'
       and (h.best_height >= r.start_at_height
            or (h.best_height = r.start_at_height - 1
                and h.grew_at < clock_timestamp() - make_interval(secs => ${STANDS_MS / 1000})))`.execute(db);
}

interface IdleRollout {
  readonly id: string;
  readonly chain: string;
  readonly height: number;
  readonly reachedAt: Date;
  readonly status: 'pending' | 'running' | 'paused';
  readonly statusReason: string | null;
  readonly statusReasonParams: unknown;
  readonly lastDecision: { readonly reasons?: unknown } | null;
  readonly recoveryPlan: string | null;
}

/** Said once for a rollout: an incident that a person has resolved is not opened again. */
async function idleRollouts(db: Db): Promise<IdleRollout[]> {
  const { rows } = await sql<IdleRollout>`
    select r.id, r.chain_profile_id as chain, r.start_at_height as height, r.height_reached_at as "reachedAt", r.status,
           r.status_reason as "statusReason", r.status_reason_params as "statusReasonParams",
           r.last_decision as "lastDecision", r.recovery_plan as "recoveryPlan"
      from rollouts r
     where r.status in ('pending', 'running', 'paused') and r.direction = 'upgrade'
       and r.height_reached_at < clock_timestamp() - make_interval(secs => ${IDLE_AFTER_HEIGHT_MS / 1000})
       and not exists (select 1 from rollout_nodes n where n.rollout_id = r.id and n.attempt_count > 0)
       and not exists (select 1 from incidents i where i.dedupe_key = 'height_passed:' || r.id)
     order by r.id
       for update of r skip locked`.execute(db);
  return rows;
}

async function raise(db: Db, rollout: IdleRollout): Promise<void> {
  const { id, chain, height } = rollout;
  const since = rollout.reachedAt.toISOString();
  const why = whyIdle(rollout);
  await openIncident(db, {
    category: 'height_passed',
    severity: 'critical',
    nodeId: null,
    rolloutId: id,
    dedupeKey: `height_passed:${id}`,
    summary: `${chain} reached height ${height} at ${since}, and rollout ${id} has begun no node. ${why} Start or resume it, or cancel it.`,
    recoveryPlan: rollout.recoveryPlan,
    reason: reason('height_passed_idle', { height, since, why }),
    actor: 'system:height-watchdog',
  });
}

/** What holds it, as its rows say. */
function whyIdle({ status, statusReason, statusReasonParams, lastDecision }: IdleRollout): string {
  if (status === 'pending') return sentenceOf(reason('not_started'));
  const [told = null] =
    status === 'paused' ? [storedReason(statusReason, statusReasonParams)] : storedReasons(lastDecision?.reasons);
  return told?.sentence ?? 'Nothing says why.';
}
